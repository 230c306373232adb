import type { Attachment, AttachmentKind } from "../../src/channels/index.js";
import { has } from "./provenance.js";
import type { Media, Message } from "./update.js";

/**
 * Fields that hold a file, the first that is there counts: an animation comes with a `document` too, and a live photo
 * with a `photo`. Telegram names no type for photos, stickers and round videos.
 */
const files = [
  ["animation", "video"],
  ["video", "video"],
  ["video_note", "video", "video/mp4"],
  ["voice", "voice", "audio/ogg"],
  ["audio", "audio"],
  ["document", "document"],
  ["sticker", "sticker"],
] as const satisfies readonly (readonly [field: string, kind: AttachmentKind, mime?: string])[];

/** Content without a file, or with one that we do not fetch. */
const others: readonly (readonly [field: string, kind: AttachmentKind])[] = [
  ["venue", "location"],
  ["location", "location"],
  ["contact", "contact"],
  ["poll", "other"],
  ["dice", "other"],
  ["game", "other"],
  ["story", "other"],
  ["checklist", "other"],
  ["paid_media", "other"],
  ["rich_message", "other"],
];

/** What a message holds beside its text: nothing or one thing. An album comes as several messages. */
export function attachmentsOf(message: Message): readonly Attachment[] {
  const caption = message.caption === undefined ? {} : { caption: message.caption };
  // The sizes of one picture, smallest first.
  const picture = message.photo?.at(-1);
  if (picture) return [{ ...fileOf("image", picture, "image/jpeg"), ...caption }];
  for (const [field, kind, mime] of files) {
    const file = message[field];
    if (file) return [{ ...fileOf(kind, file, mime), ...caption }];
  }
  const other = others.find(([field]) => has(message, field));
  return other ? [{ kind: other[1], ...caption }] : [];
}

function fileOf(kind: AttachmentKind, file: Media, mime?: string): Attachment {
  const type = file.mime_type ?? mime;
  return {
    kind,
    ref: file.file_id,
    ...(type === undefined ? {} : { mime: type }),
    ...(file.file_size === undefined ? {} : { size: file.file_size }),
    ...(file.file_name === undefined ? {} : { filename: file.file_name }),
  };
}
