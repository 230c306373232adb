import type { Provenance } from "../../src/channels/index.js";
import type { Message } from "./update.js";

/** Why a message is nobody's new message to the bot: the name it is counted by. */
export type NotAPersons =
  | "no_sender"
  | "from_bot"
  | "anonymous_sender"
  | "business_message"
  | "guest_message"
  | "ephemeral_message";

/**
 * Anything but one person's own message in this chat. `from` is a stand-in where a message is sent on behalf of a chat
 * (an anonymous admin, a linked channel): then `sender_chat` is there.
 */
export function notAPersons(message: Message): NotAPersons | undefined {
  if (has(message, "sender_chat", "is_automatic_forward")) return "anonymous_sender";
  if (!message.from) return "no_sender";
  if (has(message, "guest_query_id", "guest_bot_caller_user", "guest_bot_caller_chat")) return "guest_message";
  if (message.from.is_bot) return "from_bot";
  if (has(message, "business_connection_id", "sender_business_bot")) return "business_message";
  // Ephemeral messages all have the id 0, and an id of another kind that is used again.
  if (message.message_id <= 0) return "ephemeral_message";
  return undefined;
}

/**
 * How the text of a person's new message came to be. `typed` is only a plain text of theirs: not forwarded, not through
 * a bot, not sent by a schedule, not edited before we first saw it, with no quotation from elsewhere, nothing of it
 * struck through, and no command (a command may be tapped).
 *
 * `bot.on("message:text")` of grammY fires for all of these alike.
 */
export function provenanceOf(message: Message): Provenance {
  // `forward_date`: Bot API servers before 7.0.
  if (has(message, "forward_origin", "forward_date")) return "forwarded";
  if (has(message, "via_bot")) return "via_bot";
  if (message.text === undefined)
    return message.voice || message.video_note || message.audio ? "transcript" : "caption";
  if (has(message, "external_reply", "quote", "reply_to_story") || isFormatted(message, quotations))
    return "quoted_other";
  if (has(message, "is_from_offline", "edit_date") || /^\s*\//.test(message.text)) return "other";
  if (isFormatted(message, ["strikethrough"]) || isNothingButAMention(message)) return "other";
  return "typed";
}

/** Formatting that says: these are somebody else's words. */
const quotations = ["blockquote", "expandable_blockquote"];

function isFormatted(message: Message, types: readonly string[]): boolean {
  return message.entities?.some(({ type }) => types.includes(type)) ?? false;
}

/** Somebody is called, who may be named like a word of consent: a name that was picked from a list. */
function isNothingButAMention({ text, entities }: Message): boolean {
  return entities?.some(({ type, length }) => type === "text_mention" && length >= (text?.trim().length ?? 0)) ?? false;
}

/**
 * Id of the message that the person answered. In a topic of a forum every message claims to answer the service message
 * that opened the topic: that is no answer.
 */
export function quoted(message: Message): number | undefined {
  const reply = message.reply_to_message;
  if (!reply || reply.forum_topic_created !== undefined) return undefined;
  if (has(message, "is_topic_message") && reply.message_id === message.message_thread_id) return undefined;
  return reply.message_id;
}

export function has(message: Message, ...fields: readonly string[]): boolean {
  return fields.some((field) => message[field] !== undefined && message[field] !== null && message[field] !== false);
}
