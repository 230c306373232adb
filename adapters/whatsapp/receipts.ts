import {
  type BinaryNode,
  type MessageUserReceiptUpdate,
  proto,
  toNumber,
  type WAMessageUpdate,
} from "@whiskeysockets/baileys";
import type { Receipt, ReceiptLevel } from "../../src/channels/index.js";
import { refusalOf } from "./fault-words.js";
import { isGroup } from "./jid.js";
import type { People } from "./people.js";
import type { SentLog } from "./sent-log.js";

/** Something that WhatsApp said of a message of ours. */
export interface Word {
  readonly ref: string;
  readonly level: ReceiptLevel;
  /** Seconds since 1970, by WhatsApp's clock. */
  readonly seconds: number;
  /** For `failed`: WhatsApp's error. */
  readonly error?: string;
  /** In a group: whose phone said so. */
  readonly by?: string;
}

const { Status } = proto.WebMessageInfo;
const levels: ReadonlyMap<number, ReceiptLevel> = new Map([
  [Status.ERROR, "failed"],
  [Status.SERVER_ACK, "accepted"],
  [Status.DELIVERY_ACK, "delivered"],
  [Status.READ, "read"],
  [Status.PLAYED, "read"],
]);

/** The addresses in an update are no help: the same message is named by phone number and by LID. Its id is enough. */
export function wordsOfUpdates(updates: readonly WAMessageUpdate[]): readonly Word[] {
  return updates.flatMap(({ key, update }) => {
    const level = typeof update.status === "number" ? levels.get(update.status) : undefined;
    if (!key.fromMe || !key.id || level === undefined) return [];
    const error = (update.messageStubParameters as readonly unknown[] | undefined)?.[0];
    const failed = level === "failed" ? { error: String(error ?? "unknown") } : {};
    return [{ ref: key.id, level, seconds: toNumber(update.messageTimestamp), ...failed }];
  });
}

/** WhatsApp's own acknowledgement: of one that came too late for who sent the message, Baileys tells nothing. */
export function wordOfAck({ attrs }: BinaryNode): Word | undefined {
  const { id, t, error } = attrs;
  return id === undefined || error !== undefined ? undefined : { ref: id, level: "accepted", seconds: Number(t) || 0 };
}

export function wordsOfGroup(updates: readonly MessageUserReceiptUpdate[]): readonly Word[] {
  return updates.flatMap(({ key, receipt }): readonly Word[] => {
    if (!key.fromMe || !key.id) return [];
    const by = receipt.userJid ?? "";
    const read = toNumber(receipt.readTimestamp);
    const delivered = toNumber(receipt.receiptTimestamp);
    const word = { ref: key.id, by };
    if (read > 0) return [{ ...word, level: "read", seconds: read }];
    return delivered > 0 ? [{ ...word, level: "delivered", seconds: delivered }] : [];
  });
}

export interface ReceiptsOptions {
  readonly people: People;
  readonly sent: SentLog;
  readonly receipt: (receipt: Receipt) => Promise<void>;
  readonly count: (event: string) => void;
  readonly now: () => number;
}

/** Hands one word on, if it is about a message that we sent, and of the person it was meant for. */
export function createReceipts({ people, sent, receipt, count, now }: ReceiptsOptions): (word: Word) => Promise<void> {
  return async (word) => {
    const about = await sent.read(word.ref);
    // Baileys sends messages of its own, to the owner's phone: WhatsApp takes them, too.
    if (!about) return word.level === "accepted" ? undefined : count("receipt_of_unknown_message");
    if (isGroup(about.chat) && word.by !== undefined && (await people.nameOf(word.by)) !== about.sender) {
      return count("receipt_of_another_member");
    }
    const refusal = word.error === undefined ? undefined : refusalOf(word.error);
    const receivedAt = now();
    await receipt({
      ref: word.ref,
      level: word.level,
      at: word.seconds > 0 ? word.seconds * 1000 : receivedAt,
      receivedAt,
      ...(refusal ? { code: refusal.code, reason: refusal.reason } : {}),
    });
  };
}
