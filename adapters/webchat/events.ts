import type { ChannelHost, LogEntry } from "../../src/channels/index.js";
import { Refusal, withSafeHeaders } from "./answer.js";
import type { Deadline } from "./deadline.js";
import { parseEntry, parseSignal } from "./entry.js";
import { createEventWriter, type EventWriter } from "./event-writer.js";
import { historyEntries } from "./limits.js";

/** Of a history that is longer the oldest entries are left out. UTF-16 code units. */
const historyLength = 1_000_000;
/** Entries that a stream remembers having told. */
const rememberedAtMost = 1_000;

export interface EventsOptions {
  /** How often a silent stream shows that it is alive, and looks for entries that it was not told of. */
  readonly heartbeatMs: number;
  /** Open streams of one chat in this process: a browser has six connections per host in HTTP/1.1, for all its tabs. */
  readonly perChat: number;
  /** For one look at the store by a stream that is open. */
  readonly deadline: () => Deadline;
}

/**
 * What happens in a chat, as server-sent events: first `history` with `{resumed, entries}` (`resumed`: they follow the
 * id that the browser had; else it starts anew), then `entry` for every later line of the log, `signal` for what is not
 * kept, `beat` now and then, and `moved` when too many streams of the chat are open: this one ends, and should come
 * back only when somebody looks at it.
 */
export interface Events {
  open(chat: string, afterId: string | undefined, deadline: Deadline): Promise<Response>;
  closeAll(): void;
}

export function createEvents(host: ChannelHost, options: EventsOptions): Events {
  const { log } = host.store;
  const open = new Map<string, Set<EventWriter>>();

  /** As the page gets it, or nothing for an entry that this build cannot read. */
  function shown({ id, value }: LogEntry): readonly object[] {
    const entry = parseEntry(value);
    if (!entry) host.count("unreadable_log_entry");
    return entry ? [{ logId: id, ...entry }] : [];
  }

  function admit(chat: string, writer: EventWriter): void {
    const writers = open.get(chat) ?? new Set();
    open.set(chat, writers.add(writer));
    for (const oldest of [...writers].slice(0, Math.max(0, writers.size - options.perChat))) {
      oldest.write("moved", {});
      oldest.close();
    }
  }

  function dismiss(chat: string, writer: EventWriter): void {
    const writers = open.get(chat);
    writers?.delete(writer);
    if (writers?.size === 0) open.delete(chat);
  }

  return {
    async open(chat, afterId, deadline) {
      const told = new Set<string>();
      /** What comes between following the log and reading it has to wait for the history. */
      const waiting: (() => void)[] = [];
      let live = false;
      let last = afterId;
      const whenLive = (tell: () => void): void => {
        if (live) tell();
        else waiting.push(tell);
      };
      const isNews = ({ id }: LogEntry): boolean => {
        if (told.has(id)) return false;
        told.add(id);
        if (told.size > rememberedAtMost) for (const oldest of [...told].slice(0, 1)) told.delete(oldest);
        last = id;
        return true;
      };
      const tell = (entry: LogEntry): void => {
        if (isNews(entry)) for (const line of shown(entry)) writer.write("entry", line, entry.id);
      };
      const tellSignal = (value: string): void => {
        const signal = parseSignal(value);
        if (signal) writer.write("signal", signal);
      };

      const following = log.follow(
        chat,
        (entry) => whenLive(() => tell(entry)),
        (value) => whenLive(() => tellSignal(value)),
      );
      const unfollow = (): void => void following.then((stop) => stop()).catch(() => undefined);
      const beat = setInterval(() => {
        writer.write("beat", {});
        // Whatever relays entries between processes may lose its connection: what was missed then is read here.
        const missed = options.deadline().within(log.read(chat, last, historyEntries));
        missed.then((entries) => entries.forEach(tell), writer.close);
      }, options.heartbeatMs);
      const writer = createEventWriter(() => {
        clearInterval(beat);
        unfollow();
        dismiss(chat, writer);
      });

      try {
        await deadline.within(following);
        const entries = await deadline.within(log.read(chat, afterId, historyEntries));
        // A full page may leave out entries before it: the browser starts anew instead of showing a gap.
        const resumed = afterId !== undefined && entries.length < historyEntries;
        const lines = newest(entries.filter(isNews), historyLength).flatMap(shown);
        writer.write("history", { resumed, entries: lines }, last);
      } catch (error) {
        writer.close();
        throw error;
      }
      live = true;
      for (const each of waiting.splice(0)) each();
      admit(chat, writer);
      return new Response(writer.body, {
        headers: withSafeHeaders({
          "content-type": "text/event-stream; charset=utf-8",
          "cache-control": "no-store, no-transform",
          "x-accel-buffering": "no",
        }),
      });
    },
    closeAll() {
      for (const writers of [...open.values()]) for (const writer of [...writers]) writer.close();
    },
  };
}

function newest(entries: readonly LogEntry[], length: number): readonly LogEntry[] {
  let left = length;
  const first = entries.findLastIndex((entry) => {
    left -= entry.value.length;
    return left < 0;
  });
  return entries.slice(first + 1);
}

/** The id that a browser read last: by itself when it comes back, or by the page. */
export function afterIdOf(request: Request): string | undefined {
  const id = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("after");
  if (id !== null && id.length > 64) throw new Refusal("invalid_request");
  return id ?? undefined;
}
