import { isJidGroup, proto, toNumber, type WAMessage } from "@whiskeysockets/baileys";
import type { ChannelHost, InboundMessage } from "../../src/channels/index.js";
import { type Content, contentOf } from "./content.js";
import { isGroup, personOf } from "./jid.js";
import type { WhatsappOptions } from "./options.js";
import type { People } from "./people.js";

/** A message as it arrived, until it is handed on. */
export interface Arrival {
  readonly message: WAMessage;
  /** By our clock, ms since 1970. */
  readonly receivedAt: number;
  /** It was typed while we were away. */
  readonly waited: boolean;
  /** Its entries in the journal. */
  readonly entries: readonly string[];
  /** Its author changed it, or took it back, before it was handed on. */
  changed?: "edited" | "revoked";
}

export interface ReceivingOptions {
  readonly account: string;
  readonly groups: WhatsappOptions["groups"];
  readonly host: ChannelHost;
  readonly people: People;
  /** The account's own addresses. */
  readonly own: () => readonly string[];
}

/**
 * Takes one arrival: hands a person's new message to the host, counts everything else. Resolves when it is done with;
 * rejects when the store is away.
 */
export type TakeArrival = (arrival: Arrival) => Promise<void>;

export function createReceiving(options: ReceivingOptions): TakeArrival {
  const { account, host, people } = options;

  async function take({ message, receivedAt, changed }: Arrival): Promise<string | undefined> {
    const unread = notAMessage(message);
    if (unread !== undefined) return unread;
    const { key } = message;
    const remote = key.remoteJid ?? "";
    const group = isGroup(remote);
    const [jid, alt] = group ? [key.participant, key.participantAlt] : [remote, key.remoteJidAlt];
    const content = contentOf(message.message ?? {});
    if (key.fromMe) {
      const chat = group ? remote : await people.nameOf(jid, alt);
      // Baileys hands us our own messages, too; the host tells them from those of the operator's phone.
      if (content.kind === "message" && chat !== undefined) await host.overheard({ chat, id: key.id ?? "" });
      return "echo";
    }
    if (content.kind === "none") return content.counted;
    if (content.kind !== "message") {
      const author = await people.known(jid ?? "");
      const chat = group ? remote : author;
      if (author !== undefined && chat !== undefined && content.target !== undefined) {
        await host.retracted({ chat, sender: author, id: content.target });
      }
      return `${content.kind}_message`;
    }
    if (changed === "revoked") return "revoked_message";
    if (group && options.groups === "never") return "group_message";
    if (group && options.groups === "mentioned" && !isAddressed(content, options.own())) return "group_message";

    const sender = await people.nameOf(jid, alt);
    if (sender === undefined) return "not_a_person";
    const chat = group ? remote : sender;
    await (group ? people.wroteFrom(sender, key.participant ?? "", remote) : people.wroteFrom(sender, remote));
    const quote = await quoted(content, group ? remote : sender);
    const seconds = toNumber(message.messageTimestamp);
    const dated = Number.isFinite(seconds) && seconds > 0;
    const provenance = content.provenance === "typed" && (quote.elsewhere || changed || !dated);
    const inbound: InboundMessage = {
      channel: "whatsapp",
      account,
      chat,
      sender,
      id: key.id ?? "",
      group,
      ...(message.pushName ? { senderName: message.pushName } : {}),
      text: content.text,
      provenance: provenance ? (quote.elsewhere ? "quoted_other" : "other") : content.provenance,
      ...(quote.id === undefined ? {} : { quotes: quote.id }),
      sentAt: dated ? seconds * 1000 : receivedAt,
      receivedAt,
      attachments: content.attachments,
    };
    await host.receive(inbound);
    return undefined;
  }

  /** What the person answered. A quotation may be of another chat: then it is none of this one. */
  async function quoted(
    { context }: Extract<Content, { kind: "message" }>,
    chat: string,
  ): Promise<{ readonly id?: string; readonly elsewhere: boolean }> {
    const { stanzaId, remoteJid } = context;
    if (!stanzaId) return { elsewhere: false };
    const from = remoteJid ? (isJidGroup(remoteJid) ? remoteJid : await people.nameOf(remoteJid)) : chat;
    return from === chat ? { id: stanzaId, elsewhere: false } : { elsewhere: true };
  }

  return async (arrival) => {
    const counted = await take(arrival);
    if (counted !== undefined) host.count(counted);
  };
}

/** Why there is nothing to read in it: the name that it is counted by. */
function notAMessage({ key, message, messageStubType }: WAMessage): string | undefined {
  const remote = key.remoteJid ?? "";
  if (remote === "status@broadcast") return "status";
  if (remote.endsWith("@newsletter")) return "newsletter";
  if (remote.endsWith("@broadcast")) return "broadcast_list";
  if (remote.endsWith("@bot")) return "from_bot";
  // The same message comes once more when it could be decrypted: its id is not used up.
  if (messageStubType === proto.WebMessageInfo.StubType.CIPHERTEXT) return "undecryptable";
  if (!message || !key.id) return "service_message";
  return undefined;
}

/** Whether a message in a group is meant for the account: it is mentioned, or answered. */
function isAddressed({ context }: Extract<Content, { kind: "message" }>, own: readonly string[]): boolean {
  const isOwn = (jid: string | null | undefined) => own.includes(personOf(jid) ?? "");
  return (context.mentionedJid ?? []).some(isOwn) || (Boolean(context.stanzaId) && isOwn(context.participant));
}
