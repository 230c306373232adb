import type { ChannelHost, InboundMessage } from "../../src/channels/index.js";
import { attachmentsOf } from "./attachments.js";
import type { Chats } from "./chats.js";
import { type BotIdentity, isAddressed } from "./group.js";
import type { TelegramOptions } from "./options.js";
import { notAPersons, provenanceOf, quoted } from "./provenance.js";
import { kindOf, type Message, type User, update as updateShape } from "./update.js";

export interface ReceivingOptions {
  readonly account: string;
  readonly groups: TelegramOptions["groups"];
  readonly host: ChannelHost;
  readonly chats: Chats;
  readonly bot: BotIdentity;
  /** Makes the button that was pressed stop to spin; best effort. */
  readonly answerPress: (callbackQuery: string) => void;
}

/**
 * Takes one update, whatever it is: hands a person's new message to the host, counts everything else. Resolves when the
 * update may be acknowledged; rejects when it may not: with what the host or Telegram could not do.
 */
export type TakeUpdate = (given: unknown) => Promise<void>;

export function createReceiving(options: ReceivingOptions): TakeUpdate {
  const { account, host, chats, bot } = options;

  async function take(message: Message): Promise<string | undefined> {
    const chat = String(message.chat.id);
    if (message.migrate_to_chat_id !== undefined) await chats.moved(chat, String(message.migrate_to_chat_id));
    if (message.migrate_from_chat_id !== undefined) await chats.moved(String(message.migrate_from_chat_id), chat);
    const attachments = attachmentsOf(message);
    if (message.text === undefined && attachments.length === 0) return "service_message";
    const { type } = message.chat;
    const group = type === "group" || type === "supergroup";
    const nobody = notAPersons(message);
    if (nobody || !message.from) {
      // Numbers are a chat's own: one of ours elsewhere may have the same. A bot's own messages never come back to it.
      if (group) await host.overheard({ chat: (await chats.known(chat)).chat });
      return nobody;
    }
    if (!group && type !== "private") return "unsupported_chat";
    if (group && options.groups === "never") return "group_message";
    if (group && options.groups === "mentioned" && !(await isAddressed(message, bot))) return "group_message";

    const place = await chats.known(chat);
    const quotes = quoted(message);
    const inbound: InboundMessage = {
      channel: "telegram",
      account,
      chat: place.chat,
      sender: String(message.from.id),
      id: place.numbering.idOf(message.message_id),
      group,
      ...nameOf(message.from),
      text: message.text ?? message.caption ?? "",
      provenance: provenanceOf(message),
      ...(quotes === undefined ? {} : { quotes: place.numbering.idOf(quotes) }),
      sentAt: message.date * 1000,
      receivedAt: host.now(),
      order: place.numbering.orderOf(message.message_id),
      attachments,
    };
    await host.receive(inbound);
    return undefined;
  }

  return async (given) => {
    const parsed = updateShape.safeParse(given);
    if (!parsed.success) {
      host.logger.error({ account }, "an update of Telegram could not be read, and is left out");
      return host.count("malformed_update");
    }
    const { message, edited_message: edited, callback_query: press } = parsed.data;
    if (press) options.answerPress(press.id);
    if (edited) {
      const place = await chats.known(String(edited.chat.id));
      const id = place.numbering.idOf(edited.message_id);
      await host.retracted({ chat: place.chat, sender: String(edited.from.id), id });
    }
    const counted = message ? await take(message) : kindOf(parsed.data);
    if (counted !== undefined) host.count(counted);
  };
}

function nameOf(user: User): { senderName?: string } {
  const name = [user.first_name, user.last_name].filter(Boolean).join(" ");
  return name === "" ? {} : { senderName: name };
}
