import type { Attachment, AttachmentKind } from "../../src/channels/index.js";
import type { Media, Message } from "./payload.js";

const others: Readonly<Record<string, AttachmentKind>> = { location: "location", contacts: "contact", order: "other" };

/** What a message holds beside its text: nothing or one thing. An album comes as several messages. */
export function attachmentsOf(message: Message): readonly Attachment[] {
  switch (message.type) {
    case "image":
    case "video":
    case "document":
    case "sticker":
      return [fileOf(message.type, message[message.type])];
    case "audio":
      return [fileOf(message.audio?.voice === true ? "voice" : "audio", message.audio)];
    default: {
      const kind = others[message.type];
      return kind === undefined ? [] : [{ kind }];
    }
  }
}

/** The text as it was received: a caption is one, too. */
export function textOf(message: Message): string {
  if (message.type === "text") return message.text?.body ?? "";
  return captionOf(message) ?? "";
}

function captionOf(message: Message): string | undefined {
  const { type } = message;
  return type === "image" || type === "video" || type === "document" ? message[type]?.caption : undefined;
}

/** Meta tells no size before it is asked for the file. */
function fileOf(kind: AttachmentKind, file: Media | undefined): Attachment {
  return {
    kind,
    ...(file?.id === undefined ? {} : { ref: file.id }),
    ...(file?.mime_type === undefined ? {} : { mime: file.mime_type }),
    ...(file?.filename === undefined ? {} : { filename: file.filename }),
    ...(file?.caption === undefined ? {} : { caption: file.caption }),
  };
}
