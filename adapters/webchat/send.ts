import type { ChannelHost, OutboundMessage, SendResult } from "../../src/channels/index.js";
import { wellFormed } from "../../src/channels/index.js";
import { isChatId } from "./chats.js";
import { createDeadline } from "./deadline.js";
import type { Entry } from "./entry.js";
import { maxTextLength } from "./limits.js";
import { orderOfSent } from "./place.js";

export interface SendOptions {
  readonly newId: () => string;
  /** Ms within which the log has to take it. */
  readonly within: number;
}

/** Sending is writing into the chat's log, once per id: whoever shows the chat, in any process, follows that. */
export function createSend(host: ChannelHost, options: SendOptions) {
  return async function send(message: OutboundMessage, signal?: AbortSignal): Promise<SendResult> {
    const { chat } = message;
    if (!isChatId(chat)) {
      return { status: "failed", code: "chat_not_found", reason: "No chat of this account has such an id." };
    }
    if (message.text.length > maxTextLength) {
      return { status: "failed", code: "text_too_long", reason: "The text is longer than a message may be." };
    }
    if (signal?.aborted) {
      return { status: "retry", code: "aborted", reason: "It was stopped before it was sent." };
    }
    const id = message.id ?? options.newId();
    const sentAt = host.now();
    const entry: Entry = {
      version: 1,
      kind: "agent",
      id,
      text: wellFormed(message.text),
      at: sentAt,
      ...(message.replyTo === undefined ? {} : { replyTo: message.replyTo }),
      ...(message.noticeFrom === undefined ? {} : { noticeFrom: message.noticeFrom }),
    };
    try {
      const deadline = createDeadline(options.within, signal);
      const logId = await deadline.within(host.store.log.append(chat, JSON.stringify(entry), `agent:${id}`));
      const order = orderOfSent(logId);
      return { status: "accepted", ref: id, sentAt, ...(order === undefined ? {} : { order }) };
    } catch {
      const away = { code: "store_unavailable", reason: "The chat's log could not be written in time." };
      // The log takes an id once, so trying again is safe for a caller who knows the id.
      return message.id === undefined ? { status: "unknown", ...away, ref: id } : { status: "retry", ...away };
    }
  };
}
