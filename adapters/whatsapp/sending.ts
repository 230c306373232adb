import { randomBytes } from "node:crypto";
import { type BinaryNode, type proto, USyncQuery, USyncUser, type WASocket } from "@whiskeysockets/baileys";
import { type OutboundMessage, type SendResult, wellFormed } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { blocked, noSuchChat, notInGroup, notOnWhatsapp, refusalOf, retry, unknownOf } from "./fault-words.js";
import type { Groups } from "./groups.js";
import { isGroup, isLid, personOf, userOf } from "./jid.js";
import type { Pacing } from "./pacing.js";
import { pause } from "./pause.js";
import type { People } from "./people.js";
import type { SentLog, SentText } from "./sent-log.js";

/** What an open connection has to offer to who sends. */
export interface OpenLine {
  readonly socket: WASocket;
  /** The account's own addresses. */
  readonly own: readonly string[];
  readonly people: People;
  readonly groups: Groups;
  readonly isBlocked: (person: string) => boolean;
}

export interface SendingOptions {
  /** Undefined while the account is not connected. */
  readonly line: () => OpenLine | undefined;
  readonly sent: SentLog;
  readonly pacing: Pacing;
  /** How long WhatsApp may take to say that it has a message, ms. */
  readonly ackMs: number;
  /** How long everything before may take, pauses included, ms. */
  readonly prepareMs: number;
}

export interface Sending {
  send(message: OutboundMessage, signal?: AbortSignal): Promise<SendResult>;
  /** Whether `send` of that message has not returned yet. */
  isUnderWay(id: string): boolean;
}

/** As WhatsApp's own web client makes them. */
export function newMessageId(): string {
  return `3EB0${randomBytes(9).toString("hex").toUpperCase()}`;
}

/**
 * Sends one message. Baileys' `sendMessage` resolves when the message was written to the connection, and also when it
 * was written for nobody: so who is to get it is asked before, and WhatsApp's acknowledgement is waited for after. What
 * fails before the message is handed to Baileys surely was not sent; everything after may have been.
 */
export function createSending(options: SendingOptions): Sending {
  const { line: lineNow, sent, pacing, ackMs } = options;
  const underWay = new Set<string>();

  return {
    isUnderWay: (id) => underWay.has(id),
    async send(message, signal) {
      const id = message.id ?? newMessageId();
      underWay.add(id);
      try {
        return await send(message, id, signal);
      } finally {
        underWay.delete(id);
      }
    },
  };

  async function send(message: OutboundMessage, id: string, signal: AbortSignal | undefined): Promise<SendResult> {
    if (!isAddress(message)) return noSuchChat;
    const line = lineNow();
    if (!line) return retry.notConnected;
    if (signal?.aborted) return retry.aborted;
    const text: SentText = {
      chat: message.chat,
      sender: message.sender,
      text: wellFormed(message.text),
      ...(message.replyTo === undefined ? {} : { replyTo: message.replyTo }),
    };
    const late = AbortSignal.timeout(options.prepareMs);
    const calledOff = signal ? AbortSignal.any([signal, late]) : late;
    const ready = await raced(prepare(line, message, id, text, calledOff), calledOff, retry.notPrepared);
    if (ready.status !== "ready") return ready;
    // The account may have changed hands while the message was being prepared.
    if (lineNow() !== line) return retry.notConnected;
    if (signal?.aborted) return retry.aborted;
    return hand(line, ready.jid, id, ready.content, signal);
  }

  type Prepared = SendResult | { readonly status: "ready"; readonly jid: string; readonly content: proto.IMessage };

  async function prepare(
    line: OpenLine,
    message: OutboundMessage,
    id: string,
    text: SentText,
    signal: AbortSignal,
  ): Promise<Prepared> {
    const { people, socket } = line;
    let jid = message.chat;
    let author = message.sender;
    try {
      if (isGroup(jid)) author = await people.addressOf(author, jid);
      else jid = author = await people.addressOf(jid);
      await sent.write(id, text);
    } catch {
      return retry.store;
    }
    if (!isGroup(jid) && (line.isBlocked(jid) || line.isBlocked(message.chat))) return blocked;
    const refusal = isGroup(jid) ? await readyGroup(line, jid) : await readyPerson(line, jid);
    if (refusal) return refusal;
    void socket.sendPresenceUpdate("composing", jid).catch(() => undefined);
    await pacing.typing(text.text, signal);
    return { status: "ready", jid, content: contentOf(text, author) };
  }

  async function hand(
    { socket }: OpenLine,
    jid: string,
    id: string,
    content: proto.IMessage,
    signal: AbortSignal | undefined,
  ): Promise<SendResult> {
    const ended = new AbortController();
    // Asked for first: the word may come before the message is known to have left.
    const word: Promise<SendResult> = socket.waitForMessage<BinaryNode>(id, ackMs).then(
      (node) => (node ? acknowledged(node, id) : unknownOf(id, "no_answer")),
      () => unknownOf(id, "connection_lost"),
    );
    const handed = socket.relayMessage(jid, content, { messageId: id }).then(
      () => word,
      async (error: unknown): Promise<SendResult> => {
        if (isBeforeSending(error)) return retry.notEncrypted;
        // Who has a group's key is written after the message has left: it may be on its way all the same.
        const answered = await Promise.race([word, pause(Math.min(ackMs, 2_000), ended.signal)]);
        return answered ?? unknownOf(id, "connection_lost");
      },
    );
    const result = await raced(handed, signal ?? ended.signal, unknownOf(id, "aborted"));
    ended.abort();
    if (isGroup(jid) && result.status !== "accepted") await forgetWhoHasKey(socket, jid);
    return result;
  }
}

/** A group's key goes out with its first message. Where that may not have arrived, it goes out with the next one too. */
async function forgetWhoHasKey({ authState }: WASocket, group: string): Promise<void> {
  await Promise.resolve(authState.keys.set({ "sender-key-memory": { [group]: null } })).catch(() => undefined);
}

/** Sessions are only worked on before a message is sent. */
function isBeforeSending(error: unknown): boolean {
  if (error instanceof DaleError) return error.code === "channel_failed";
  return error instanceof Error && error.message === "All encryptions failed";
}

/** What a text is on the wire. What a link shows is no part of the text: no preview is made. */
export function contentOf(text: SentText, author: string): proto.IMessage {
  if (text.replyTo === undefined) return { conversation: text.text };
  // Clients show the message that they have under that id; its text is not ours to repeat.
  const contextInfo = { stanzaId: text.replyTo, participant: author, quotedMessage: { conversation: "" } };
  return { extendedTextMessage: { text: text.text, contextInfo } };
}

function isAddress({ chat, sender, group }: OutboundMessage): boolean {
  return personOf(sender) !== undefined && (group ? isGroup(chat) : personOf(chat) === chat);
}

/** Nobody can be written to who has no phone with WhatsApp; the keys of all of them are fetched beforehand. */
async function readyPerson({ socket, own }: OpenLine, jid: string): Promise<SendResult | undefined> {
  try {
    const self = own.find((address) => isLid(address) === isLid(jid)) ?? own[0] ?? jid;
    const devices = await socket.getUSyncDevices([self, jid], true, false);
    const theirs = devices.filter(({ user }) => user === userOf(jid));
    if (theirs.length === 0) return (await isKnownAbsent(socket, jid)) ? notOnWhatsapp : retry.notPrepared;
    await socket.assertSessions(theirs.map((device) => device.jid));
    return undefined;
  } catch {
    return retry.notPrepared;
  }
}

/** An answer that was too late looks like an answer that named nobody: so the question is asked once more. */
async function isKnownAbsent(socket: WASocket, jid: string): Promise<boolean> {
  const query = new USyncQuery().withContext("message").withDeviceProtocol().withUser(new USyncUser().withId(jid));
  const answer = await socket.executeUSyncQuery(query);
  if (!answer) return false;
  return !answer.list.some(({ devices }) => hasDevices(devices));
}

function hasDevices(answer: unknown): boolean {
  if (typeof answer !== "object" || answer === null || !("deviceList" in answer)) return false;
  return Array.isArray(answer.deviceList) && answer.deviceList.length > 0;
}

async function readyGroup({ socket, groups }: OpenLine, jid: string): Promise<SendResult | undefined> {
  try {
    const metadata = groups.read(jid) ?? (await socket.groupMetadata(jid));
    groups.write(metadata);
    const devices = await socket.getUSyncDevices(
      metadata.participants.map(({ id }) => id),
      true,
      false,
    );
    await socket.assertSessions(devices.map((device) => device.jid));
    return undefined;
  } catch (error) {
    groups.forget(jid);
    return isRefused(error) ? notInGroup : retry.notPrepared;
  }
}

/** WhatsApp's codes for a group that is not there, or is not ours. */
function isRefused(error: unknown): boolean {
  return typeof error === "object" && error !== null && "data" in error && [401, 403, 404].includes(Number(error.data));
}

/** The first word about a message: WhatsApp's acknowledgement, or already a phone's receipt. */
function acknowledged({ tag, attrs }: BinaryNode, id: string): SendResult {
  if (tag !== "ack") return { status: "accepted", ref: id };
  if (attrs.error !== undefined) {
    const refusal = refusalOf(attrs.error);
    return refusal.status === "unknown" ? { ...refusal, ref: id } : refusal;
  }
  const seconds = Number(attrs.t);
  return { status: "accepted", ref: id, ...(seconds > 0 ? { sentAt: seconds * 1000 } : {}) };
}

async function raced<T, U>(work: Promise<T>, signal: AbortSignal, otherwise: U): Promise<T | U> {
  const stop = new AbortController();
  try {
    return await Promise.race([work, pause(2 ** 31 - 1, AbortSignal.any([signal, stop.signal])).then(() => otherwise)]);
  } finally {
    stop.abort();
    work.catch(() => undefined);
  }
}
