import type { Provenance } from "../../src/channels/index.js";
import type { Message } from "./payload.js";

/** What a person can send of their own. Everything else is no new message of theirs, or cannot be read. */
const contents = new Set(["text", "image", "audio", "video", "document", "sticker", "location", "contacts", "order"]);

/** No new message: the name that it is counted by. */
const noNews: Readonly<Record<string, string>> = {
  button: "button_reply",
  interactive: "button_reply",
  reaction: "reaction",
  edit: "edit",
  revoke: "revoke",
  system: "system_message",
  request_welcome: "request_welcome",
};

/**
 * Why a message is not handed on: the name that it is counted by, one of a closed set. An edit comes as `edit`, or as
 * `unsupported` without a word of what it holds; so what is unsupported never counts as news.
 */
export function notNews(message: Message): string | undefined {
  if (contents.has(message.type)) return undefined;
  if (message.type === "unsupported") {
    if (message.unsupported?.type === "edit") return "edit";
    // 131060: a message that Meta itself does not have, of a number that the WhatsApp Business app uses too.
    return message.errors?.some(({ code }) => code === 131060) ? "unavailable_message" : "unsupported_message";
  }
  return Object.hasOwn(noNews, message.type) ? noNews[message.type] : "unknown_message_type";
}

/**
 * How the text of a person's new message came to be. `typed` is only a plain text of theirs: not passed on, and not
 * begun from an advertisement or a catalogue, which write the text for them.
 */
export function provenanceOf(message: Message): Provenance {
  const { context, type } = message;
  if (context?.forwarded || context?.frequently_forwarded) return "forwarded";
  if (type === "audio") return "transcript";
  if (type !== "text") return "caption";
  return given(message.referral) || given(context?.referred_product) ? "other" : "typed";
}

function given(value: unknown): boolean {
  return value !== undefined && value !== null;
}
