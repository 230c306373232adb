/**
 * The contract between Dale and a chat platform: the normal form of a message, what an adapter can do (as data), what a
 * send may come to, and how long texts are split. It speaks no platform and keeps nothing.
 */
export type {
  AdapterFactory,
  ChannelAdapter,
  ChannelCapabilities,
  ChannelState,
  ChannelStatus,
  RateLimit,
} from "./adapter.js";
export type { ChannelHost, ChannelLog, ChannelLogger, ChannelStore, FencedState, Lease, LogEntry } from "./host.js";
export type { Address, Attachment, AttachmentKind, ChannelKind, InboundMessage, Provenance } from "./message.js";
export { sessionOf } from "./message.js";
export type { OutboundMessage, Receipt, ReceiptLevel, SendResult } from "./outbound.js";
export { type SplitOptions, type SplitText, splitText, wellFormed } from "./split.js";
