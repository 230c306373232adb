import type { proto } from "@whiskeysockets/baileys";
import type { ChannelHost } from "../../src/channels/index.js";
import type { DeviceState } from "./device-state.js";
import type { Groups } from "./groups.js";
import { personOf } from "./jid.js";
import type { Journal } from "./journal.js";
import { type Line, openLine } from "./line.js";
import type { Mailroom } from "./mailroom.js";
import type { WhatsappTiming } from "./options.js";
import type { Pairing } from "./pairing.js";
import type { People } from "./people.js";
import { contentOf, type OpenLine } from "./sending.js";
import type { SentLog } from "./sent-log.js";
import type { Tell } from "./tenure.js";

export interface VisitOptions {
  readonly host: ChannelHost;
  readonly state: DeviceState;
  readonly journal: Journal;
  readonly groups: Groups;
  readonly people: People;
  readonly mailroom: Mailroom;
  readonly pairing: Pairing;
  readonly sent: SentLog;
  readonly socketUrl: string | undefined;
  readonly timing: WhatsappTiming;
  readonly own: () => readonly string[];
  readonly tell: Tell;
  /** The connection that can be sent on; undefined when there is none any more. */
  readonly onLine: (line: OpenLine | undefined) => void;
}

/** One connection, from its beginning to its end. */
export interface Visit {
  readonly line: Line;
  readonly ended: Promise<{
    /** Baileys' code. */
    readonly code: number;
    /** Whether a code to scan was shown. */
    readonly shown: boolean;
  }>;
}

/** Connects, and brings together what WhatsApp tells with those whom it concerns. */
export function visit(options: VisitOptions): Visit {
  const { host, state, groups, people, mailroom, pairing, tell } = options;
  const blocked = new Set<string>();
  let shown = false;
  mailroom.connecting();
  const line = openLine({
    ...options,
    sentMessage,
    events: {
      onQr(qr) {
        shown = true;
        tell({ state: "unpaired", qr, ...(state.ended ? { reason: state.ended.reason } : {}) });
        pairing.ready(line.socket);
      },
      onOpen() {
        tell({ state: "open" });
        mailroom.open();
        const isBlocked = (person: string) => blocked.has(person);
        options.onLine({ socket: line.socket, own: options.own(), people, groups, isBlocked });
        line.socket.fetchBlocklist().then(
          (jids) => block(jids, "add"),
          () => undefined,
        );
      },
      onCaughtUp: mailroom.caughtUp,
      onMessages: mailroom.messages,
      onUpdates: mailroom.updates,
      onGroupReceipts: mailroom.groupReceipts,
      onAck: mailroom.acknowledged,
      onPair: (lid, pn) => void people.learn(lid, pn).catch(() => undefined),
      onBlocked: ({ blocklist, type }) => block(blocklist, type),
      onMistake(error) {
        const name = error instanceof Error ? error.name : typeof error;
        host.logger.error({ name }, "an event of WhatsApp could not be handled");
      },
    },
  });

  function block(jids: readonly (string | undefined)[], type: "add" | "remove"): void {
    for (const person of jids.flatMap((jid) => personOf(jid) ?? [])) {
      if (type === "add") blocked.add(person);
      else blocked.delete(person);
    }
  }

  /** A phone that could not read a message asks for it again: it is given only where it was sent. */
  async function sentMessage(id: string, chat: string): Promise<proto.IMessage | undefined> {
    const text = await options.sent.read(id);
    const alone = personOf(chat) !== undefined;
    const asking = alone ? await people.nameOf(chat) : chat;
    if (!text || asking !== text.chat) return undefined;
    return contentOf(text, await people.addressOf(text.sender, alone ? undefined : chat));
  }

  const ended = line.closed.then(({ code }) => {
    options.onLine(undefined);
    pairing.over();
    mailroom.closed();
    return { code, shown };
  });
  return { line, ended };
}
