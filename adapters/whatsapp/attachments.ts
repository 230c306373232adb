import type { MediaType, proto } from "@whiskeysockets/baileys";
import { toNumber } from "@whiskeysockets/baileys";
import { z } from "zod";
import type { Attachment, AttachmentKind } from "../../src/channels/index.js";

/** What is needed to fetch a file and to open it; a message's `ref` in plain JSON. */
export const fileRef = z.strictObject({
  version: z.literal(1),
  /** From the host's root. Whose host, the message has no say in. */
  path: z.string().regex(/^\/(?!\/)[^\s\\]*$/),
  /** Base64, 32 bytes. */
  key: z.string(),
  /** SHA-256 of the file as it was before it was encrypted, base64. */
  sha256: z.string().optional(),
  type: z.enum(["image", "video", "audio", "document", "sticker"]),
});

export type FileRef = z.infer<typeof fileRef>;

interface MediaFields {
  readonly directPath?: string | null;
  readonly mediaKey?: Uint8Array | null;
  readonly fileSha256?: Uint8Array | null;
  readonly fileLength?: proto.Message.IImageMessage["fileLength"];
  readonly mimetype?: string | null;
  readonly caption?: string | null;
  readonly fileName?: string | null;
}

/** What a message holds instead of a text; undefined when it holds nothing that anybody could do something with. */
export function attachmentOf(message: proto.IMessage): Attachment | undefined {
  const { imageMessage, videoMessage, ptvMessage, audioMessage, documentMessage, stickerMessage } = message;
  if (imageMessage) return fileOf("image", "image", imageMessage);
  if (videoMessage) return fileOf("video", "video", videoMessage);
  if (ptvMessage) return fileOf("video", "video", ptvMessage);
  if (audioMessage) return fileOf(audioMessage.ptt ? "voice" : "audio", "audio", audioMessage);
  if (documentMessage) return fileOf("document", "document", documentMessage);
  if (stickerMessage) return fileOf("sticker", "sticker", stickerMessage);
  const found = withoutFile.find(([field]) => message[field] !== null && message[field] !== undefined);
  return found ? { kind: found[1] } : undefined;
}

const withoutFile: readonly (readonly [keyof proto.IMessage, AttachmentKind])[] = [
  ["locationMessage", "location"],
  ["liveLocationMessage", "location"],
  ["contactMessage", "contact"],
  ["contactsArrayMessage", "contact"],
  ["pollCreationMessage", "other"],
  ["pollCreationMessageV2", "other"],
  ["pollCreationMessageV3", "other"],
  ["pollCreationMessageV4", "other"],
  ["pollCreationMessageV5", "other"],
  ["eventMessage", "other"],
  ["productMessage", "other"],
  ["orderMessage", "other"],
  ["groupInviteMessage", "other"],
  ["stickerPackMessage", "other"],
  ["sendPaymentMessage", "other"],
  ["requestPaymentMessage", "other"],
];

function fileOf(kind: AttachmentKind, type: FileRef["type"] & MediaType, file: MediaFields): Attachment {
  const size = toNumber(file.fileLength);
  const ref = refOf(type, file);
  return {
    kind,
    ...(file.mimetype ? { mime: file.mimetype } : {}),
    ...(size > 0 ? { size } : {}),
    ...(file.fileName ? { filename: file.fileName } : {}),
    ...(file.caption ? { caption: file.caption } : {}),
    ...(ref === undefined ? {} : { ref }),
  };
}

function refOf(type: FileRef["type"], file: MediaFields): string | undefined {
  if (!file.directPath || !file.mediaKey) return undefined;
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const ref = fileRef.safeParse({
    version: 1,
    path: file.directPath,
    key: base64(file.mediaKey),
    ...(file.fileSha256?.length ? { sha256: base64(file.fileSha256) } : {}),
    type,
  });
  return ref.success ? JSON.stringify(ref.data) : undefined;
}
