import { setTimeout as sleep } from "node:timers/promises";
import type { ChannelLog, LogEntry } from "../channels/index.js";
import { createScript, reachingRedis, type Shard } from "./script.js";
import { type Signals, signalChannel } from "./signals.js";
import { bareStreamId, padStreamId } from "./stream-id.js";

const dayMs = 24 * 3_600_000;
/** A chat's log keeps about so many entries, for so long after the last one. */
const mostEntries = 5_000;
const logTtlMs = 90 * dayMs;
const onceTtlMs = 8 * dayMs;
/** A follower that was away is given at most so many entries at once. */
const mostMissed = 1_000;
/** Ms after which a follower that was away asks again what it missed, where Redis did not answer. */
const catchUpAgainMs = 100;

/**
 * KEYS: log, then the mark of `once` if there is one. ARGV: value, about how many entries are kept, ttl of the log,
 * where it is announced, ttl of the mark. What is announced: `entry <id> <value>`.
 */
const appendScript = createScript(`
if KEYS[2] then
  local first = redis.call('GET', KEYS[2])
  if first then return first end
end
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'value', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if KEYS[2] then redis.call('SET', KEYS[2], id, 'PX', ARGV[5]) end
redis.call('PUBLISH', ARGV[4], 'entry ' .. id .. ' ' .. ARGV[1])
return id`);

export interface ChannelLogOptions extends Shard {
  readonly signals: Signals;
  /** Where this account's keys and topics begin, after the shard's prefix. */
  readonly base: string;
}

/** A Redis stream per chat. Followers hear of entries by a signal, and read the stream after a lost connection. */
export function createChannelLog(options: ChannelLogOptions): ChannelLog {
  const { redis, prefix, signals, base } = options;
  const logKey = (chat: string) => `${prefix}:${base}:log:${chat}`;
  const topicOf = (chat: string) => `${base}:log:${chat}`;

  async function range(chat: string, after: string | undefined, limit: number): Promise<readonly LogEntry[]> {
    const from = after === undefined ? "-" : `(${after}`;
    const found = await redis.xrevrange(logKey(chat), "+", from, "COUNT", limit);
    return found.reverse().map(([id, fields]) => ({ id: padStreamId(id), value: fields[1] ?? "" }));
  }

  return {
    async append(chat, value, once) {
      const keys = [logKey(chat)];
      if (once !== undefined) keys.push(`${prefix}:${base}:once:${chat.length}:${chat}:${once}`);
      const announced = signalChannel(prefix, topicOf(chat));
      const args = [value, mostEntries, logTtlMs, announced, onceTtlMs];
      return padStreamId(String(await appendScript.run(redis, "appending to a chat's log", keys, args)));
    },
    read: (chat, afterId, limit) =>
      reachingRedis("reading a chat's log", async () => {
        if (limit <= 0) return [];
        return await range(chat, afterId === undefined ? undefined : bareStreamId(afterId), limit);
      }),
    signal: (chat, value) => signals.publish(topicOf(chat), `signal ${value}`),
    async follow(chat, onEntry, onSignal) {
      const follower = createFollower(onEntry, (after) => range(chat, bareStreamId(after), mostMissed));
      const leave = await signals.subscribe(
        topicOf(chat),
        (text) => {
          if (text.startsWith("signal ")) {
            if (!follower.stopped()) onSignal(text.slice("signal ".length));
            return;
          }
          const [, id = ""] = text.split(" ", 2);
          follower.heard({ id: padStreamId(id), value: text.slice("entry ".length + id.length + 1) });
        },
        follower.missed,
      );
      const stop = () => {
        follower.stop();
        leave();
      };
      try {
        const [newest] = await reachingRedis("reading a chat's log", () => range(chat, undefined, 1));
        follower.begin(newest?.id ?? padStreamId("0-0"));
      } catch (error) {
        stop();
        throw error;
      }
      return stop;
    },
  };
}

/**
 * Hands over each entry once, in order. While it does not know where it stands (at its beginning, and after the
 * connection was lost until the stream has been read) what it hears waits.
 */
function createFollower(
  onEntry: (entry: LogEntry) => void,
  readAfter: (id: string) => Promise<readonly LogEntry[]>,
): {
  begin(newest: string): void;
  heard(entry: LogEntry): void;
  missed(): void;
  stop(): void;
  stopped(): boolean;
} {
  let last = "";
  let knows = false;
  let stopped = false;
  let gaps = 0;
  let waiting: LogEntry[] = [];

  function hand(entry: LogEntry): void {
    if (stopped || entry.id <= last) return;
    last = entry.id;
    onEntry(entry);
  }
  function goOn(): void {
    knows = true;
    const entries = waiting;
    waiting = [];
    entries.forEach(hand);
  }

  return {
    begin(newest) {
      last = newest;
      goOn();
    },
    heard(entry) {
      if (knows) hand(entry);
      else waiting.push(entry);
    },
    async missed() {
      if (last === "") return;
      const gap = ++gaps;
      knows = false;
      while (!stopped && gap === gaps) {
        const missed = await readAfter(last).catch(() => undefined);
        if (gap !== gaps) return;
        if (missed) {
          missed.forEach(hand);
          return goOn();
        }
        await sleep(catchUpAgainMs, undefined, { ref: false });
      }
    },
    stop() {
      stopped = true;
    },
    stopped: () => stopped,
  };
}
