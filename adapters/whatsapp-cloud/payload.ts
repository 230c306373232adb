import { z } from "zod";

/**
 * The part of a webhook call that decides anything here, as Meta's reference of the `messages` field has it. Whatever
 * else an object holds is let through unread. Each message and status is parsed by itself, so that one that cannot be
 * read takes none of the others with it.
 */
const present = z.unknown().optional();
const id = z.string().min(1).max(1024);
/** Seconds since 1970, as a text. */
const timestamp = z.union([z.string().regex(/^\d{1,12}$/), z.int().nonnegative()]).transform(Number);

/** Errors' codes are numbers, and in some places texts. */
const errors = z
  .array(z.looseObject({ code: z.coerce.number().optional().catch(undefined) }))
  .optional()
  .catch(undefined);

const optionalId = z
  .union([id, z.int().transform(String)])
  .optional()
  .catch(undefined);

export const delivery = z.looseObject({
  object: z.string(),
  entry: z.array(z.looseObject({ changes: z.array(z.unknown()).default([]) })).default([]),
});

export const change = z.looseObject({ field: z.string(), value: z.looseObject({}) });

export const messagesValue = z.looseObject({
  metadata: z.looseObject({
    phone_number_id: z.union([id, z.int().transform(String)]),
    display_phone_number: optionalId,
  }),
  contacts: z.array(z.unknown()).default([]),
  messages: z.array(z.unknown()).default([]),
  statuses: z.array(z.unknown()).default([]),
  message_echoes: z.array(z.unknown()).default([]),
  errors: z.array(z.unknown()).default([]),
});

/** Since April 2026 either id may be absent: of a person with a username only the business-scoped one may be told. */
export const contact = z.looseObject({
  wa_id: optionalId,
  user_id: optionalId,
  parent_user_id: optionalId,
  profile: z.looseObject({ name: z.string().optional() }).optional().catch(undefined),
});

const media = z.looseObject({
  id: optionalId,
  mime_type: z.string().optional(),
  caption: z.string().optional(),
  filename: z.string().optional(),
  voice: z.boolean().optional(),
});

/** What the operator sent from the Business app, to whom. */
export const echo = z.looseObject({ id, timestamp, to: optionalId, to_user_id: optionalId, group_id: optionalId });

export const message = z.looseObject({
  id,
  timestamp,
  type: z.string(),
  from: optionalId,
  from_user_id: optionalId,
  from_parent_user_id: optionalId,
  group_id: optionalId,
  context: z
    .looseObject({
      id: optionalId,
      from: optionalId,
      forwarded: z.boolean().optional(),
      frequently_forwarded: z.boolean().optional(),
      referred_product: present,
    })
    .optional(),
  referral: present,
  text: z.looseObject({ body: z.string() }).optional(),
  image: media.optional(),
  audio: media.optional(),
  video: media.optional(),
  document: media.optional(),
  sticker: media.optional(),
  system: z
    .looseObject({
      type: z.string().optional(),
      body: z.string().optional(),
      wa_id: optionalId,
      /** Before v12.0. */
      new_wa_id: optionalId,
      user_id: optionalId,
      parent_user_id: optionalId,
      previous_user_id: optionalId,
      previous_parent_user_id: optionalId,
    })
    .optional(),
  edit: z.looseObject({ original_message_id: optionalId }).optional().catch(undefined),
  revoke: z.looseObject({ original_message_id: optionalId }).optional().catch(undefined),
  unsupported: z.looseObject({ type: z.string().optional() }).optional().catch(undefined),
  errors,
});

export const status = z.looseObject({
  id,
  status: z.string(),
  timestamp,
  recipient_id: optionalId,
  recipient_type: z.string().optional(),
  recipient_participant_id: optionalId,
  recipient_participant_user_id: optionalId,
  recipient_participant_parent_user_id: optionalId,
  biz_opaque_callback_data: optionalId,
  errors,
});

export type MessagesValue = z.infer<typeof messagesValue>;
export type Contact = z.infer<typeof contact>;
export type Message = z.infer<typeof message>;
export type Media = z.infer<typeof media>;
export type Status = z.infer<typeof status>;
