import { z } from "zod";
import { type OutboundMessage, type SendResult, wellFormed } from "../../src/channels/index.js";
import type { BotApi } from "./bot-api.js";
import type { Chats, Place } from "./chats.js";
import { resultOf } from "./fault-words.js";

/** What sendMessage has to answer for a message to count as accepted. */
const sentMessage = z.object({ message_id: z.number().int(), date: z.number().int() });

export interface SendingOptions {
  readonly api: BotApi;
  readonly chats: Chats;
  readonly timeoutMs: number;
}

export interface Sending {
  send(message: OutboundMessage, signal?: AbortSignal): Promise<SendResult>;
  /** "… is typing", for about five seconds. */
  typing(chat: string): Promise<void>;
}

export function createSending({ api, chats, timeoutMs }: SendingOptions): Sending {
  async function sendTo(place: Place, message: OutboundMessage, signal?: AbortSignal) {
    const replyTo = message.replyTo === undefined ? undefined : place.numbering.messageIdOf(message.replyTo);
    return api.attempt(
      (raw, inner) =>
        raw.sendMessage(
          {
            chat_id: place.chat,
            text: wellFormed(message.text),
            // What a link shows is no part of the text.
            link_preview_options: { is_disabled: true },
            ...(replyTo === undefined
              ? {}
              : { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } }),
          },
          inner,
        ),
      timeoutMs,
      signal,
    );
  }

  return {
    async send(message, signal) {
      const { chat } = message;
      if (!isChatId(chat)) return { status: "failed", code: "chat_not_found", reason: "That is no chat of Telegram." };
      let place = await chats.target(chat);
      let attempt = await sendTo(place, message, signal);
      if (!attempt.ok && attempt.fault.kind === "refused" && attempt.fault.movedTo !== undefined) {
        place = await chats.redirected(chat, attempt.fault.movedTo);
        attempt = await sendTo(place, message, signal);
      }
      if (!attempt.ok) return resultOf(attempt.fault);
      const sent = sentMessage.safeParse(attempt.result);
      if (!sent.success) return resultOf({ kind: "lost", code: "bad_answer", left: true });
      const { message_id: id, date } = sent.data;
      const { numbering } = place;
      return { status: "accepted", ref: numbering.idOf(id), sentAt: date * 1000, order: numbering.orderOf(id) };
    },
    async typing(chat) {
      if (!isChatId(chat)) return;
      const place = await chats.target(chat);
      await api.attempt(
        (raw, inner) => raw.sendChatAction({ chat_id: place.chat, action: "typing" }, inner),
        timeoutMs,
      );
    },
  };
}

/** Names of public channels ("@…") are no chats that anybody wrote from. */
function isChatId(chat: string): boolean {
  return /^-?[1-9]\d{0,15}$/.test(chat);
}
