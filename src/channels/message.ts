/** `api` is our own HTTP API: a channel without an adapter, whose response is the delivery. */
export type ChannelKind = "telegram" | "whatsapp" | "whatsapp_cloud" | "webchat" | "api";

/**
 * How a text came to be. Only `typed` can confirm anything.
 * `edited`, `button`, `bot`, `echo` and `system` are no new message of the person: they never touch a pending proposal,
 * and no adapter hands them on. `caption`, `forwarded`, `quoted_other`, `transcript`, `via_bot` and `other` are new
 * messages: they clear a pending proposal and are ordinary turns. `other` is a text that may not have been typed here and
 * now (a command that can be tapped, a message sent by a schedule, one that was edited before it was first seen), or that
 * takes itself back: formatted as struck through.
 */
export type Provenance =
  | "typed"
  | "caption"
  | "forwarded"
  | "edited"
  | "quoted_other"
  | "button"
  | "transcript"
  | "via_bot"
  | "other"
  | "bot"
  | "echo"
  | "system";

export type AttachmentKind =
  | "image"
  | "audio"
  | "voice"
  | "video"
  | "document"
  | "sticker"
  | "location"
  | "contact"
  | "other";

/** Something that came with a message, or instead of a text. Bytes are never here: `ref` is the platform's handle. */
export interface Attachment {
  readonly kind: AttachmentKind;
  readonly mime?: string;
  /** Bytes, as the platform says. */
  readonly size?: number;
  readonly filename?: string;
  readonly caption?: string;
  /** What the adapter's `fetchAttachment` needs to get the bytes; opaque to everybody else. */
  readonly ref?: string;
}

/** Where a message came from and where answers go: one person in one chat on one account. */
export interface Address {
  readonly channel: ChannelKind;
  /** The account's name in dale.yaml. */
  readonly account: string;
  readonly chat: string;
  readonly sender: string;
}

/** One new message of one person, as every adapter hands it on. Plain JSON. */
export interface InboundMessage extends Address {
  /**
   * The platform's own identity of the message, the same for every redelivery: unique within (account, chat, sender).
   * It is what later `quotes` and receipts call the message.
   */
  readonly id: string;
  readonly group: boolean;
  /** For display only; nobody is ever matched by it. */
  readonly senderName?: string;
  /** The text exactly as it was received; empty when there is none. A caption stands here too (provenance `caption`). */
  readonly text: string;
  readonly provenance: Provenance;
  /** Platform id of the message that the person answered or quoted, if any. */
  readonly quotes?: string;
  /** When the person sent it, by the platform's clock. Milliseconds since 1970; most platforms round to seconds. */
  readonly sentAt: number;
  /** When it arrived here, by our clock. Milliseconds since 1970. */
  readonly receivedAt: number;
  /** Place in the platform's order of messages of this chat, comparable with that of sent messages; where there is one. */
  readonly order?: number;
  readonly attachments: readonly Attachment[];
}

/** The session's id as everybody sees it: `<channel>:<account>:<chat>:<sender>`. */
export function sessionOf(address: Address): string {
  return `${address.channel}:${address.account}:${address.chat}:${address.sender}`;
}
