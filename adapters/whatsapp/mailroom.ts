import {
  type BaileysEventMap,
  type BinaryNode,
  toNumber,
  type WAMessage,
  type WAMessageKey,
} from "@whiskeysockets/baileys";
import type { ChannelHost } from "../../src/channels/index.js";
import { DaleError, isRetryable } from "../../src/errors/index.js";
import { contentOf } from "./content.js";
import { createInbox } from "./inbox.js";
import { personOf } from "./jid.js";
import type { Journal, Leftover } from "./journal.js";
import type { WhatsappOptions, WhatsappTiming } from "./options.js";
import type { People } from "./people.js";
import { createReceipts, type Word, wordOfAck, wordsOfGroup, wordsOfUpdates } from "./receipts.js";
import { type Arrival, createReceiving } from "./receiving.js";
import type { SentLog } from "./sent-log.js";

/** Everything that comes in, on its way to the host: in order, each until it is taken. */
export interface Mailroom {
  messages(upsert: BaileysEventMap["messages.upsert"]): void;
  updates(updates: BaileysEventMap["messages.update"]): void;
  groupReceipts(updates: BaileysEventMap["message-receipt.update"]): void;
  acknowledged(ack: BinaryNode): void;
  /** Takes up what was written down and not told of: what an earlier process left behind, or a line that has ended. */
  takeUp(left: readonly Leftover[]): void;
  /**
   * What waited for us while we were away comes in a batch, and an edit or a deletion in it counts: until `caughtUp`,
   * and a quiet moment after it, nothing is handed on.
   */
  connecting(): void;
  open(): void;
  caughtUp(): void;
  closed(): void;
  stop(): Promise<void>;
}

export interface MailroomOptions {
  readonly options: WhatsappOptions;
  readonly host: ChannelHost;
  readonly journal: Journal;
  readonly people: People;
  readonly sent: SentLog;
  readonly timing: WhatsappTiming;
  /** The account's own addresses. */
  readonly own: () => readonly string[];
  /** Whether a message is being sent right now: what WhatsApp says of it then is heard by who sends it. */
  readonly isUnderWay: (id: string) => boolean;
}

/** Quiet moments that a batch may last at most: its end may never be told, and people may go on writing. */
const mostMoments = 20;

export function createMailroom(settings: MailroomOptions): Mailroom {
  const { host, journal, people, timing, options } = settings;
  const account = options.name;
  const receive = createReceiving({ account, groups: options.groups, host, people, own: settings.own });
  const tellReceipt = createReceipts({
    people,
    sent: settings.sent,
    receipt: host.receipt,
    count: host.count,
    now: host.now,
  });
  const refused = (what: string) => (error: unknown) => {
    host.logger.warn({ code: codeOf(error) }, `${what} could not be handed on, and waits`);
  };
  const arrivals = createInbox<Arrival>({
    async take(arrival) {
      try {
        await receive(arrival);
      } catch (error) {
        if (isRetryable(error)) throw error;
        // It would stop all that come after it. It stays in the journal, for the next start.
        host.count("not_handed_on");
        host.logger.error({ code: codeOf(error) }, "a message cannot be handed on");
        return;
      }
      await journal.settle(arrival.entries);
    },
    onRefused: refused("a message"),
    retryMs: timing.store,
  });
  const words = createInbox<Word>({ take: tellReceipt, onRefused: refused("a receipt"), retryMs: timing.store });

  let quiet: NodeJS.Timeout | undefined;
  let caughtUp = true;
  let latest = Number.POSITIVE_INFINITY;
  const releaseAfter = (ms: number) => {
    clearTimeout(quiet);
    quiet = setTimeout(release, Math.max(0, Math.min(ms, latest - performance.now())));
  };
  function release(): void {
    clearTimeout(quiet);
    caughtUp = true;
    latest = Number.POSITIVE_INFINITY;
    quiet = undefined;
    arrivals.release(byAge);
  }

  function arrived(given: WAMessage, waited: boolean): void {
    const receivedAt = host.now();
    // Baileys goes on with the object: an edit in the same batch is written into it.
    const message = { ...given, key: { ...given.key } };
    // That a message could not be read tells nothing of the one under its id that could.
    const entries = message.message ? journal.entriesOf(message.key) : [];
    arrivals.add({ message, receivedAt, waited, entries });
    change(message);
  }

  /** An edit or a deletion changes what still waits; only the author's own word does. */
  function change({ key: by, message }: WAMessage): void {
    const content = message ? contentOf(message) : undefined;
    if (content?.kind !== "edited" && content?.kind !== "revoked") return;
    for (const waiting of arrivals.waiting()) {
      const { key } = waiting.message;
      if (key.id === content.target && isSameSender(key, by)) waiting.changed = content.kind;
    }
  }

  return {
    messages({ messages, type }) {
      for (const message of messages) arrived(message, type === "append");
      if (quiet !== undefined && caughtUp && type === "append") releaseAfter(timing.settle);
    },
    updates(updates) {
      for (const word of wordsOfUpdates(updates)) {
        const heard = (word.level === "failed" || word.level === "accepted") && settings.isUnderWay(word.ref);
        if (!heard) words.add(word);
      }
    },
    acknowledged(ack) {
      const word = wordOfAck(ack);
      if (word && !settings.isUnderWay(word.ref)) words.add(word);
    },
    groupReceipts(updates) {
      for (const word of wordsOfGroup(updates)) words.add(word);
    },
    takeUp(left) {
      for (const each of left) arrivals.add({ ...each, waited: true });
      for (const { message } of left) change(message);
    },
    connecting() {
      caughtUp = false;
      arrivals.hold();
    },
    open() {
      // WhatsApp may have told the end of the batch before.
      if (!caughtUp) releaseAfter(timing.settle * mostMoments);
    },
    caughtUp() {
      caughtUp = true;
      latest = performance.now() + timing.settle * mostMoments;
      releaseAfter(timing.settle);
    },
    closed: release,
    async stop() {
      clearTimeout(quiet);
      await Promise.all([arrivals.stop(), words.stop()]);
    },
  };
}

/**
 * What is typed while the batch is being handed over is decrypted beside it, and may be told of before: a "yes" must not
 * overtake the "no" that was typed earlier.
 */
function byAge(one: Arrival, other: Arrival): number {
  const seconds = (arrival: Arrival) => toNumber(arrival.message.messageTimestamp);
  return seconds(one) - seconds(other) || Number(other.waited) - Number(one.waited);
}

function codeOf(error: unknown): string {
  return error instanceof DaleError ? error.code : "unknown";
}

function isSameSender(one: WAMessageKey, other: WAMessageKey): boolean {
  const bothInGroup = Boolean(one.participant) && one.remoteJid === other.remoteJid;
  const bothAlone = !one.participant && !other.participant;
  return (bothInGroup || bothAlone) && sharesAddress(one, other);
}

function sharesAddress(one: WAMessageKey, other: WAMessageKey): boolean {
  const mine = addressesOf(one);
  return addressesOf(other).some((address) => mine.includes(address));
}

function addressesOf(key: WAMessageKey): readonly string[] {
  const jids = key.participant ? [key.participant, key.participantAlt] : [key.remoteJid, key.remoteJidAlt];
  return jids.flatMap((jid) => personOf(jid) ?? []);
}
