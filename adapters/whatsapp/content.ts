import { proto } from "@whiskeysockets/baileys";
import type { Attachment, Provenance } from "../../src/channels/index.js";
import { attachmentOf } from "./attachments.js";

/** What one message says, once its wrappers are off. */
export type Content =
  | {
      readonly kind: "message";
      readonly text: string;
      readonly provenance: Provenance;
      readonly attachments: readonly Attachment[];
      readonly context: proto.IContextInfo;
    }
  /** Its author changed or deleted an earlier message of theirs. */
  | { readonly kind: "edited" | "revoked"; readonly target: string | undefined }
  /** No new message: the name that it is counted by. */
  | { readonly kind: "none"; readonly counted: string };

/** Wrappers that leave a text as it was typed. */
const plainWrappers = ["ephemeralMessage"] as const;
/** Wrappers whose content is a person's, but of which it is not certain that they typed it here and now. */
const otherWrappers = [
  "viewOnceMessage",
  "viewOnceMessageV2",
  "viewOnceMessageV2Extension",
  "documentWithCaptionMessage",
  "associatedChildMessage",
  "groupMentionedMessage",
  "botInvokeMessage",
  "lottieStickerMessage",
  "questionMessage",
  "questionReplyMessage",
] as const;

/** Content that is no new message of a person, by the name that it is counted by. */
const noMessages: readonly (readonly [keyof proto.IMessage, string])[] = [
  ["reactionMessage", "reaction"],
  ["encReactionMessage", "reaction"],
  ["pollUpdateMessage", "poll_vote"],
  ["encEventResponseMessage", "event_response"],
  // The label of a button was written by whoever made the button.
  ["buttonsResponseMessage", "button"],
  ["templateButtonReplyMessage", "button"],
  ["listResponseMessage", "button"],
  ["interactiveResponseMessage", "button"],
  ["pinInChatMessage", "pin"],
  ["keepInChatMessage", "kept"],
  ["callLogMesssage", "call"],
  ["call", "call"],
  ["bcallMessage", "call"],
  ["scheduledCallCreationMessage", "call"],
  ["scheduledCallEditMessage", "call"],
  ["albumMessage", "album"],
  ["placeholderMessage", "undecryptable"],
  // Messages of programs: templates of a business, answers of an assistant.
  ["templateMessage", "from_bot"],
  ["buttonsMessage", "from_bot"],
  ["listMessage", "from_bot"],
  ["interactiveMessage", "from_bot"],
  ["highlyStructuredMessage", "from_bot"],
  ["richResponseMessage", "from_bot"],
  ["botForwardedMessage", "from_bot"],
];

const deepest = 5;

/**
 * Takes a message apart. Baileys' own `normalizeMessageContent` unwraps an edit too, and so makes a new message of it:
 * in a group's batch one person's edit came out as another person's message.
 */
export function contentOf(message: proto.IMessage): Content {
  let inner = message;
  let typed = true;
  for (let depth = 0; depth < deepest; depth++) {
    const noNews = noNewsOf(inner);
    if (noNews) return noNews;
    const plain = plainWrappers.map((name) => inner[name]?.message).find(present);
    const other = otherWrappers.map((name) => inner[name]?.message).find(present);
    const next = plain ?? other;
    if (!next) break;
    if (!plain) typed = false;
    inner = next;
  }
  const text = inner.conversation || inner.extendedTextMessage?.text || undefined;
  const context = contextOf(inner);
  const attachment = attachmentOf(inner);
  if (text !== undefined) {
    // No client sends both: whoever does, did not type.
    const provenance = ofText(context, typed && !attachment);
    return { kind: "message", text, provenance, attachments: attachment ? [attachment] : [], context };
  }
  if (!attachment) return { kind: "none", counted: "unsupported_message" };
  const spoken = attachment.kind === "voice" || attachment.kind === "audio" || inner.ptvMessage !== undefined;
  const provenance = isForwarded(context) ? "forwarded" : spoken && !attachment.caption ? "transcript" : "caption";
  return { kind: "message", text: attachment.caption ?? "", provenance, attachments: [attachment], context };
}

/** Edits come in three shapes: a protocol message, an encrypted one that Baileys cannot read, and a wrapper. */
function noNewsOf(message: proto.IMessage): Content | undefined {
  const { protocolMessage, secretEncryptedMessage, editedMessage } = message;
  if (editedMessage) {
    return { kind: "edited", target: editedMessage.message?.protocolMessage?.key?.id ?? undefined };
  }
  if (secretEncryptedMessage) {
    return { kind: "edited", target: secretEncryptedMessage.targetMessageKey?.id ?? undefined };
  }
  if (protocolMessage) {
    const { Type } = proto.Message.ProtocolMessage;
    const target = protocolMessage.key?.id ?? undefined;
    if (protocolMessage.type === Type.MESSAGE_EDIT) return { kind: "edited", target };
    if (protocolMessage.type === Type.REVOKE) return { kind: "revoked", target };
    return { kind: "none", counted: "service_message" };
  }
  const counted = noMessages.find(([field]) => present(message[field]))?.[1];
  return counted === undefined ? undefined : { kind: "none", counted };
}

function ofText(context: proto.IContextInfo, typed: boolean): Provenance {
  if (isForwarded(context)) return "forwarded";
  // A quotation without the message that it is of: of a status, or of something that never was.
  if (context.quotedMessage && !context.stanzaId) return "quoted_other";
  return typed && !isPrefilled(context) ? "typed" : "other";
}

function isForwarded(context: proto.IContextInfo): boolean {
  return context.isForwarded === true || (context.forwardingScore ?? 0) > 0 || present(context.forwardOrigin);
}

/** Written by an advertisement or a link that opened the chat, and sent by a tap. */
function isPrefilled(context: proto.IContextInfo): boolean {
  const { conversionSource, entryPointConversionSource, externalAdReply, quotedAd } = context;
  return (
    present(conversionSource) || present(entryPointConversionSource) || present(externalAdReply) || present(quotedAd)
  );
}

/** The context stands in whichever field the content is. */
function contextOf(message: proto.IMessage): proto.IContextInfo {
  for (const value of Object.values(message)) {
    if (typeof value === "object" && value !== null && "contextInfo" in value && value.contextInfo) {
      return value.contextInfo as proto.IContextInfo;
    }
  }
  return {};
}

function present<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined && value !== "";
}
