import type { ChannelHost, InboundMessage } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { attachmentsOf, textOf } from "./attachments.js";
import { changeOf, idsOf, senderOf } from "./identity.js";
import { inLines, type Task } from "./lines.js";
import type { WhatsappCloudOptions } from "./options.js";
import {
  type Contact,
  change as changeShape,
  contact as contactShape,
  delivery as deliveryShape,
  echo as echoShape,
  type Message,
  type MessagesValue,
  message as messageShape,
  messagesValue,
  status as statusShape,
} from "./payload.js";
import type { People } from "./people.js";
import { digitsOf } from "./phones.js";
import { notNews, provenanceOf } from "./provenance.js";
import { receiptOf } from "./receipts.js";

/** Another account of the same app: takes what a webhook call of this one holds for it. */
export interface Sibling {
  /**
   * @param value of a change of the field `messages` or `smb_message_echoes`
   * @param receivedAt by our clock, ms
   * @returns resolves when everything in it may be forgotten by Meta; rejects when it may not
   */
  take(value: unknown, receivedAt: number): Promise<void>;
}

export interface ReceivingOptions {
  readonly account: string;
  readonly phoneNumberId: string;
  readonly groups: WhatsappCloudOptions["groups"];
  readonly siblings: (phoneNumberId: string) => Sibling | undefined;
  readonly host: ChannelHost;
  readonly people: People;
  /** A person's message was taken over. */
  readonly heard: (message: InboundMessage) => Promise<void>;
}

export interface Receiving extends Sibling {
  /** Takes a whole webhook call whose signature was found right. Resolves and rejects like a sibling's `take`. */
  takeCall(body: unknown, receivedAt: number): Promise<void>;
}

export function createReceiving(options: ReceivingOptions): Receiving {
  const { account, phoneNumberId, host, people } = options;

  function misread(what: "message" | "status" | "change"): void {
    host.logger.error({ account, what }, "a part of a webhook call could not be read, and is left out");
    host.count(`malformed_${what}`);
  }

  async function takeCall(body: unknown, receivedAt: number): Promise<void> {
    const call = deliveryShape.safeParse(body);
    if (!call.success) return misread("change");
    if (call.data.object !== "whatsapp_business_account") return host.count("other_object");
    const work: Promise<void>[] = [];
    for (const given of call.data.entry.flatMap(({ changes }) => changes)) {
      const change = changeShape.safeParse(given);
      if (!change.success) misread("change");
      // `smb_message_echoes`: what the operator's own phone sent.
      else if (change.data.field === "messages" || change.data.field === "smb_message_echoes")
        work.push(dispatch(change.data.value, receivedAt));
      else host.count("other_field");
    }
    await all(work);
  }

  async function dispatch(value: unknown, receivedAt: number): Promise<void> {
    const read = messagesValue.safeParse(value);
    if (!read.success) return misread("change");
    const number = read.data.metadata.phone_number_id;
    if (number === phoneNumberId) return takeOwn(read.data, receivedAt);
    const sibling = options.siblings(number);
    if (sibling) return sibling.take(value, receivedAt);
    // Refused, it would come again for seven days.
    host.logger.warn({ account }, "a webhook call is for a phone_number_id that is not configured here");
    host.count("unknown_phone_number_id");
  }

  async function takeOwn(value: MessagesValue, receivedAt: number): Promise<void> {
    const contacts = value.contacts.flatMap((each): Contact[] => {
      const read = contactShape.safeParse(each);
      return read.success ? [read.data] : [];
    });
    const display = digitsOf(value.metadata.display_phone_number);
    for (const echo of value.message_echoes) await takeEcho(echo);
    for (const _ of value.errors) host.count("platform_error");
    const messages = value.messages.flatMap((given): Message[] => {
      const read = messageShape.safeParse(given);
      if (read.success) return [read.data];
      misread("message");
      return [];
    });
    // Who is who has to be known before anything is taken from whoever changed their number.
    for (const message of messages.filter(({ type }) => type === "system")) await takeSystem(message);
    const tasks: Task[] = messages
      .filter(({ type }) => type !== "system")
      .map((message) => ({
        line: `person:${message.from_user_id ?? message.from ?? message.id}`,
        run: () => takeMessage(message, contacts, display, receivedAt),
      }));
    for (const given of value.statuses) {
      const read = statusShape.safeParse(given);
      if (!read.success) misread("status");
      else tasks.push({ line: `sent:${read.data.id}`, run: () => takeStatus(read.data, receivedAt) });
    }
    await inLines(tasks);
  }

  /** The operator has written to the person themselves: a notice is not the last thing that they read. */
  async function takeEcho(given: unknown): Promise<void> {
    host.count("echo");
    const echo = echoShape.safeParse(given);
    if (!echo.success) return misread("message");
    const { id, timestamp, to, to_user_id } = echo.data;
    const chat = echo.data.group_id ?? (await people.nameOf(idsOf([to], [to_user_id]), timestamp * 1000));
    if (chat !== undefined) await host.overheard({ chat, id });
  }

  async function takeStatus(status: Parameters<typeof receiptOf>[0], receivedAt: number): Promise<void> {
    const receipt = await receiptOf(status, people, receivedAt);
    if (typeof receipt === "string") host.count(receipt);
    else await host.receipt(receipt);
  }

  async function takeSystem(message: Message): Promise<void> {
    const change = changeOf(message);
    if (change) await people.moved(change.from, change.to, message.timestamp * 1000);
    host.count(change ? "number_changed" : "system_message");
  }

  async function takeMessage(
    message: Message,
    contacts: readonly Contact[],
    display: string | undefined,
    receivedAt: number,
  ): Promise<void> {
    const counted = notNews(message);
    if (counted !== undefined) {
      if (counted === "unavailable_message") {
        host.logger.warn({ account }, "Meta could not hand over a message: it is only on the WhatsApp Business app");
      }
      return host.count(counted);
    }
    if (message.type === "text" && message.text === undefined) return misread("message");
    if (display !== undefined && digitsOf(message.from) === display) return host.count("echo");
    const { group_id: group } = message;
    if (group !== undefined && !isWelcome(message, display)) return host.count("group_message");
    const { identity, name } = senderOf(message, contacts);
    const sentAt = message.timestamp * 1000;
    const person = await people.nameOf(identity, sentAt);
    if (person === undefined) return host.count("no_sender");
    const inbound: InboundMessage = {
      channel: "whatsapp_cloud",
      account,
      chat: group ?? person,
      sender: person,
      id: message.id,
      group: group !== undefined,
      ...(name === undefined ? {} : { senderName: name }),
      text: textOf(message),
      provenance: provenanceOf(message),
      ...(message.context?.id === undefined ? {} : { quotes: message.context.id }),
      sentAt,
      receivedAt,
      attachments: attachmentsOf(message),
    };
    await host.receive(inbound);
    await options.heard(inbound);
  }

  /** Whether a message in a group is for the number. Of mentions Meta tells only in the text: an @ and the number. */
  function isWelcome(message: Message, display: string | undefined): boolean {
    if (options.groups !== "mentioned") return options.groups === "always";
    if (display === undefined) return false;
    if (digitsOf(message.context?.from) === display) return true;
    return new RegExp(`@${display}(?!\\d)`).test(textOf(message));
  }

  return {
    takeCall,
    async take(value, receivedAt) {
      const read = messagesValue.safeParse(value);
      if (read.success && read.data.metadata.phone_number_id === phoneNumberId) return takeOwn(read.data, receivedAt);
      throw new DaleError("channel_failed", "A webhook call was handed to an account that it is not for.");
    },
  };
}

/** Waits for all, so that one that cannot be taken keeps nothing else from being written; then rejects with it. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(work);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
}
