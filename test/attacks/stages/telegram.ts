import type { FakeBot, Message, User } from "../../fakes/telegram-bot-api/index.js";
import type { Person, Special, Stage, Way } from "../attack.js";

/** Agent → its bot, and the account's name in dale.yaml. */
export type TelegramBots = Readonly<Record<string, { readonly bot: FakeBot; readonly account: string }>>;

/** Somebody on Telegram, with what the platform knows of them. */
export interface TelegramPerson extends Person {
  readonly bot: FakeBot;
  readonly user: User;
  readonly chat: ReturnType<FakeBot["group"]>;
}

/** @throws when the attack is run elsewhere */
export function onTelegram(person: Person): TelegramPerson {
  if (!("bot" in person)) throw new Error("this attack is one on Telegram");
  return person as TelegramPerson;
}

export interface TelegramStageOptions {
  readonly name: string;
  readonly slug: string;
  readonly bots: TelegramBots;
  /** Whether people write in a group instead of a chat of their own. */
  readonly group?: boolean;
  readonly special?: Special;
}

const ways: readonly Way[] = [
  "typed",
  "forwarded",
  "caption",
  "voice",
  "edited",
  "reaction",
  "button",
  "via_bot",
  "echo",
  "quoted_elsewhere",
  "partly_quoted",
  "struck",
  "command",
  "scheduled",
];

/** People on Telegram: in private, or each in a group of their own. */
export function telegramStage(options: TelegramStageOptions): Stage {
  return {
    name: options.name,
    slug: options.slug,
    ...(options.special === undefined ? {} : { special: options.special }),
    longest: 4096,
    group: options.group === true,
    agents: new Set(Object.keys(options.bots)),
    ways: new Set<Way>(options.group ? [...ways, "anonymous_admin", "linked_channel"] : ways),
    async meet({ agent = "cobranzas", name = "Ana", beside, alsoAs } = {}) {
      const served = options.bots[agent];
      if (!served) throw new Error(`no bot for ${agent}`);
      const { bot, account } = served;
      const { user, chat: own } = (alsoAs && onTelegram(alsoAs)) ?? bot.person(name);
      const inGroup = options.group === true || alsoAs !== undefined;
      const chat = inGroup ? ((beside && onTelegram(beside).chat) ?? bot.group()) : own;
      const heard = () => bot.sent.filter((message) => message.chat.id === chat.id);
      let last: Message | undefined;
      const person: TelegramPerson = {
        bot,
        user,
        chat,
        session: `telegram:${account}:${chat.id}:${user.id}`,
        agent,
        heard: () => heard().map(({ text }) => text ?? ""),
        async say(text, how = {}) {
          const quoted = how.quotes === undefined ? undefined : heard()[how.quotes];
          const reply = quoted ? { reply_to_message: { ...quoted, from: bot.user } } : {};
          last = send(bot, chat, user, text, how.way ?? "typed", reply) ?? last;
        },
        async changes(text) {
          bot.update({ edited_message: { ...last, text, edit_date: Math.floor(Date.now() / 1000) } });
        },
      };
      return person;
    },
  };
}

type Sent = Readonly<Record<string, unknown>>;

function send(
  bot: FakeBot,
  chat: ReturnType<FakeBot["group"]>,
  user: User,
  text: string,
  way: Way,
  reply: Sent,
): Message | undefined {
  const say = (fields: Sent) => bot.message(chat, { from: user, ...reply, ...fields });
  const now = () => Math.floor(Date.now() / 1000);
  switch (way) {
    case "typed":
      return say({ text });
    case "forwarded":
      return say({ text, forward_origin: { type: "hidden_user", sender_user_name: "Otro", date: now() } });
    case "caption":
      return say({ caption: text, photo: [{ file_id: bot.file(new Uint8Array(1)) }] });
    case "voice":
      return say({ caption: text, voice: { file_id: bot.file(new Uint8Array(1)), mime_type: "audio/ogg" } });
    case "via_bot":
      return say({ text, via_bot: { ...bot.user, id: 99, username: "otro_bot" } });
    case "quoted_elsewhere":
      return say({ text, external_reply: { origin: { type: "user", sender_user: user, date: now() } } });
    case "partly_quoted":
      return say({ text, quote: { text: "¿Querés ver el saldo?", position: 0 } });
    case "struck":
      return say({ text, entities: [{ type: "strikethrough", offset: 0, length: text.length }] });
    case "command":
      return say({ text: `/${text}`, entities: [{ type: "bot_command", offset: 0, length: text.length + 1 }] });
    case "scheduled":
      return say({ text, is_from_offline: true });
    case "echo":
      return say({ text, from: bot.user });
    case "anonymous_admin":
      return say({
        text,
        from: { id: 1087968824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" },
        sender_chat: chat,
      });
    case "linked_channel":
      return say({
        text,
        from: { id: 777000, is_bot: false, first_name: "Telegram" },
        sender_chat: { id: -100777, type: "channel", title: "Canal" },
        is_automatic_forward: true,
      });
    case "edited":
      bot.update({
        edited_message: { message_id: 1, date: now() - 60, edit_date: now(), chat, from: user, text },
      });
      return undefined;
    case "reaction":
      bot.update(
        {
          message_reaction: {
            chat,
            message_id: bot.sent.findLast((message) => message.chat.id === chat.id)?.message_id ?? 1,
            user,
            date: now(),
            old_reaction: [],
            new_reaction: [{ type: "emoji", emoji: text }],
          },
        },
        { force: true },
      );
      return undefined;
    case "button":
      bot.update({
        callback_query: {
          id: "1",
          from: user,
          chat_instance: "1",
          data: text,
          message: bot.sent.findLast((message) => message.chat.id === chat.id),
        },
      });
      return undefined;
  }
}
