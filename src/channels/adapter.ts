import type { ChannelHost } from "./host.js";
import type { Attachment, ChannelKind } from "./message.js";
import type { OutboundMessage, SendResult } from "./outbound.js";

/** What a platform can do, as data: nobody finds out by an exception. */
export interface ChannelCapabilities {
  /** The highest level that the platform ever reports for a sent message. */
  readonly receipts: "accepted" | "delivered" | "read";
  /** The level at which a notice counts as delivered, unless configured. Never below `accepted`. */
  readonly noticeLevel: "accepted" | "delivered" | "read";
  /** Longest text of one message, in UTF-16 code units. */
  readonly maxTextLength: number;
  /** Characters that the platform turns into formatting and that a notice has to escape, e.g. `*_~\`` on WhatsApp. */
  readonly formattingMarks: string;
  /** The adapter chooses message ids (`newId`), so that a retry reuses one and a late receipt is recognised. */
  readonly ownsIds: boolean;
  /** Sending again with the same `id` never shows the message twice: then an interrupted send may simply be repeated. */
  readonly repeatsSafely: boolean;
  /** Only the process that holds the account's connection can send (Baileys). Elsewhere any process can. */
  readonly sendsOverConnection: boolean;
  /** Milliseconds to which the platform rounds the times of messages: 1000 where it tells whole seconds. */
  readonly sentAtResolution: number;
  readonly typing: boolean;
  readonly marksRead: boolean;
  /** The platform's own limits of sending: `perSecond` for the account and for one chat, bursts included. */
  readonly limits: { readonly account: RateLimit; readonly chat: RateLimit; readonly group?: RateLimit };
}

/** At most `count` messages in any `perMs` milliseconds. */
export interface RateLimit {
  readonly count: number;
  readonly perMs: number;
}

export type ChannelState = "starting" | "unpaired" | "open" | "reconnecting" | "stopped";

export interface ChannelStatus {
  readonly state: ChannelState;
  /** Why, in words that an operator understands. No secrets, no phone numbers. */
  readonly reason?: string;
  /** Ms since 1970. */
  readonly since: number;
  /** The pairing code's text, while a WhatsApp account waits to be linked. */
  readonly qr?: string;
  /** The code to type on the phone, where pairing by code was asked for. */
  readonly pairingCode?: string;
}

/**
 * One account on one platform. Built by the adapter's factory; whether and when it talks is up to `start`.
 * Contract suite: test/contracts/channel-adapter.ts, run against every adapter over a fake of its platform.
 */
export interface ChannelAdapter {
  readonly channel: ChannelKind;
  readonly name: string;
  readonly capabilities: ChannelCapabilities;
  /** Begins to receive and keeps at it (reconnecting by itself) until `stop`. Resolves as soon as that is under way. */
  start(): Promise<void>;
  /** Stops receiving; what was acknowledged to the platform is durably enqueued, the rest is not acknowledged. */
  stop(): Promise<void>;
  status(): ChannelStatus;
  /** Sends one message. Works without `start`, except where `sendsOverConnection`. Never throws; gives up in time. */
  send(message: OutboundMessage, signal?: AbortSignal): Promise<SendResult>;
  /** Where `capabilities.ownsIds`: a fresh message id. */
  newId?(): string;
  /** Where `capabilities.typing`: shows for a few seconds that an answer is being written. Best effort, never throws. */
  typing?(chat: string): Promise<void>;
  /** Where `capabilities.marksRead`: tells the person that their message was taken up. Best effort, never throws. */
  markRead?(message: { readonly chat: string; readonly sender: string; readonly id: string }): Promise<void>;
  /**
   * Bytes of an attachment of an inbound message, at most `maxBytes`. Rejects with a DaleError. Asked in the process that
   * runs the turn, started or not: where that cannot have them, it rejects with `attachment_unavailable`.
   */
  fetchAttachment?(attachment: Attachment, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * Webhooks and pages, for adapters that have some. `path` is what follows the adapter's mount point, starting with
   * "/" ("/" itself for the mount point). The body of `request` is unread.
   */
  handle?(request: Request, path: string): Promise<Response>;
  /**
   * Asks for a pairing code for that phone (digits only), where the platform pairs by code (Baileys). Rejects with a
   * DaleError: `pairing_failed`, or `lease_lost` where another process owns the account.
   */
  requestPairingCode?(phone: string): Promise<string>;
  /** Begins to pair (again): a code to scan shows up in `status()`. Rejects as `requestPairingCode` does. */
  beginPairing?(): Promise<void>;
}

/** How the app makes adapters; `Options` is the account's entry in dale.yaml after the adapter's own check. */
export type AdapterFactory<Options> = (options: Options, host: ChannelHost) => ChannelAdapter;
