import type { ChannelHost, InboundMessage } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { attachmentsOf, textOf } from "./attachments.js";
import { changeOf, idsOf, senderOf } from "./identity.js";
import { createLines, type Task } from "./lines.js";
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
   * @param values of changes of the fields `messages` and `smb_message_echoes`, in the order of the call
   * @param receivedAt by our clock, ms
   * @returns resolves when everything in them may be forgotten by Meta; rejects when it may not
   */
  take(values: readonly unknown[], receivedAt: number): Promise<void>;
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
  const inLines = createLines();

  function misread(what: "message" | "status" | "change"): void {
    host.logger.error({ account, what }, "a part of a webhook call could not be read, and is left out");
    host.count(`malformed_${what}`);
  }

  async function takeCall(body: unknown, receivedAt: number): Promise<void> {
    const call = deliveryShape.safeParse(body);
    if (!call.success) return misread("change");
    if (call.data.object !== "whatsapp_business_account") return host.count("other_object");
    const own: MessagesValue[] = [];
    const others = new Map<Sibling, MessagesValue[]>();
    for (const given of call.data.entry.flatMap(({ changes }) => changes)) {
      const value = readValue(given);
      if (value === undefined) continue;
      const number = value.metadata.phone_number_id;
      const sibling = number === phoneNumberId ? undefined : options.siblings(number);
      if (number === phoneNumberId) own.push(value);
      else if (sibling) others.set(sibling, [...(others.get(sibling) ?? []), value]);
      else {
        // Refused, it would come again for seven days.
        host.logger.warn({ account }, "a webhook call is for a phone_number_id that is not configured here");
        host.count("unknown_phone_number_id");
      }
    }
    await all([takeAll(own, receivedAt), ...[...others].map(([sibling, values]) => sibling.take(values, receivedAt))]);
  }

  /** What a change says of messages; undefined for any other change. */
  function readValue(given: unknown): MessagesValue | undefined {
    const change = changeShape.safeParse(given);
    // `smb_message_echoes`: what the operator's own phone sent.
    if (change.success && change.data.field !== "messages" && change.data.field !== "smb_message_echoes") {
      host.count("other_field");
      return undefined;
    }
    const value = change.success ? messagesValue.safeParse(change.data.value) : undefined;
    if (!value?.success) misread("change");
    return value?.data;
  }

  async function takeAll(values: readonly MessagesValue[], receivedAt: number): Promise<void> {
    const tasks: Task[] = [];
    const systems: Message[] = [];
    for (const value of values) {
      for (const _ of value.errors) host.count("platform_error");
      const contacts = value.contacts.flatMap((each): Contact[] => {
        const read = contactShape.safeParse(each);
        return read.success ? [read.data] : [];
      });
      const display = digitsOf(value.metadata.display_phone_number);
      for (const echo of value.message_echoes) tasks.push({ line: "echoes", run: () => takeEcho(echo) });
      for (const given of value.messages) {
        const read = messageShape.safeParse(given);
        if (!read.success) misread("message");
        else if (read.data.type === "system") systems.push(read.data);
        else {
          const message = read.data;
          const line = `person:${message.from_user_id ?? message.from ?? message.id}`;
          tasks.push({ line, run: () => takeMessage(message, contacts, display, receivedAt) });
        }
      }
      for (const given of value.statuses) {
        const read = statusShape.safeParse(given);
        if (!read.success) misread("status");
        else tasks.push({ line: `sent:${read.data.id}`, run: () => takeStatus(read.data, receivedAt) });
      }
    }
    // Who is who has to be known before anything is taken from whoever changed their number.
    for (const message of systems) await takeSystem(message);
    await inLines(tasks);
  }

  /** The operator has written to the person themselves: a notice is not the last thing that they read. */
  async function takeEcho(given: unknown): Promise<void> {
    host.count("echo");
    const echo = echoShape.safeParse(given);
    if (!echo.success) return misread("message");
    const { id, timestamp, to, to_user_id } = echo.data;
    const chat = echo.data.group_id ?? (await people.known(idsOf([to], [to_user_id]), timestamp * 1000));
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

  /** They changed a message of theirs, or took it back: what it said counts no more. */
  async function takeChange(message: Message, contacts: readonly Contact[]): Promise<void> {
    const id = (message.edit ?? message.revoke)?.original_message_id;
    if (id === undefined) return;
    const sender = await people.known(senderOf(message, contacts).identity, message.timestamp * 1000);
    if (sender !== undefined) await host.retracted({ chat: message.group_id ?? sender, sender, id });
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
      await takeChange(message, contacts);
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
    async take(values, receivedAt) {
      const own = values.map((value) => {
        const read = messagesValue.safeParse(value);
        if (read.success && read.data.metadata.phone_number_id === phoneNumberId) return read.data;
        throw new DaleError("channel_failed", "A webhook call was handed to an account that it is not for.");
      });
      await takeAll(own, receivedAt);
    },
  };
}

/** Waits for all, so that one that cannot be taken keeps nothing else from being written; then rejects with it. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(work);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
}
