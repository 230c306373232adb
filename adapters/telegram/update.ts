import { z } from "zod";

/**
 * The part of an update that decides anything here, as https://core.telegram.org/bots/api#update has it. Whatever else
 * an object holds is let through unread.
 */
const present = z.unknown().optional();

const user = z.object({
  id: z.number().int(),
  is_bot: z.boolean(),
  first_name: z.string().default(""),
  last_name: z.string().optional(),
});

const entity = z.object({
  type: z.string(),
  offset: z.number().int(),
  length: z.number().int(),
  user: z.object({ id: z.number() }).optional(),
});

const media = z.object({
  file_id: z.string(),
  mime_type: z.string().optional(),
  file_name: z.string().optional(),
  file_size: z.number().optional(),
});

const message = z.looseObject({
  message_id: z.number().int(),
  date: z.number().int(),
  chat: z.object({ id: z.number().int(), type: z.string() }),
  from: user.optional(),
  text: z.string().optional(),
  caption: z.string().optional(),
  entities: z.array(entity).optional(),
  caption_entities: z.array(entity).optional(),
  reply_to_message: z
    .object({
      message_id: z.number().int(),
      from: z.object({ id: z.number() }).optional(),
      forum_topic_created: present,
    })
    .optional(),
  message_thread_id: z.number().optional(),
  migrate_to_chat_id: z.number().int().optional(),
  migrate_from_chat_id: z.number().int().optional(),
  photo: z.array(media).optional(),
  audio: media.optional(),
  document: media.optional(),
  animation: media.optional(),
  video: media.optional(),
  video_note: media.optional(),
  voice: media.optional(),
  sticker: media.optional(),
});

/** Whose message was changed, and which. What it says now is nobody's new message. */
const edited = z.object({
  message_id: z.number().int(),
  chat: z.object({ id: z.number().int() }),
  from: z.object({ id: z.number().int() }),
});

export const update = z.looseObject({
  update_id: z.number().int(),
  message: message.optional(),
  edited_message: edited.optional().catch(undefined),
  callback_query: z.object({ id: z.string() }).optional(),
});

export type Update = z.infer<typeof update>;
export type Message = z.infer<typeof message>;
export type Media = z.infer<typeof media>;
export type User = z.infer<typeof user>;

/** `message` carries conversations; the other two are asked for so that they are counted, or a button stops to spin. */
export const allowedUpdates = ["message", "edited_message", "callback_query"] as const;

/** Updates of the Bot API that are no message of a person to the bot: counted by these names, never handed on. */
const otherKinds = new Set([
  "edited_message",
  "channel_post",
  "edited_channel_post",
  "business_connection",
  "business_message",
  "edited_business_message",
  "deleted_business_messages",
  "guest_message",
  "stopped_message_generation",
  "message_reaction",
  "message_reaction_count",
  "inline_query",
  "chosen_inline_result",
  "callback_query",
  "shipping_query",
  "pre_checkout_query",
  "purchased_paid_media",
  "poll",
  "poll_answer",
  "my_chat_member",
  "chat_member",
  "chat_join_request",
  "chat_boost",
  "removed_chat_boost",
  "managed_bot",
  "subscription",
]);

/** The name to count an update by that is no message: one of a closed set, whatever Telegram invents. */
export function kindOf(given: Update): string {
  return Object.keys(given).find((field) => otherKinds.has(field)) ?? "unsupported_update";
}
