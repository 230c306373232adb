import { digestId } from "../canonical/index.js";
import type { InboundMessage } from "../channels/index.js";

/**
 * The turn that answers a message: opaque, and the same for every redelivery of it, whatever the platform's envelope.
 * It is the inbound job's id too, so a message is enqueued once and answered once.
 */
export function turnOf(message: Pick<InboundMessage, "channel" | "account" | "chat" | "sender" | "id">): string {
  return digestId("t-", message.channel, message.account, message.chat, message.sender, message.id);
}
