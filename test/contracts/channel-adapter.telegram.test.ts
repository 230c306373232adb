import { setTimeout as sleep } from "node:timers/promises";
import { createTelegramAdapter, type TelegramOptions } from "../../adapters/telegram/index.js";
import {
  type Chat,
  type FakeBot,
  faults,
  type Message,
  startFakeBotApi,
  type User,
} from "../fakes/telegram-bot-api/index.js";
import { impatientTiming, startWebhookSite } from "../fixtures/telegram.js";
import { type ChannelRig, channelAdapterContract, type Person } from "./channel-adapter.js";

const secretToken = "a-secret_of_the_webhook";

const common = {
  receipts: "the Bot API reports neither delivery nor reading",
  overhears: "nobody else writes in a bot's name: of groups, see test/integration/telegram/groups.test.ts",
} as const;

channelAdapterContract({
  title: "Telegram, polling",
  skips: common,
  create: () => createRig("polling"),
});

channelAdapterContract({
  title: "Telegram, webhook",
  skips: { ...common, standby: "any process may answer a webhook; Telegram waits for each answer" },
  create: () => createRig("webhook"),
});

async function createRig(mode: "polling" | "webhook"): Promise<ChannelRig> {
  const platform = await startFakeBotApi();
  const site = await startWebhookSite();
  const bot = platform.bot();
  const [ana, beto] = [bot.person("Ana"), bot.person("Beto")];
  const group = bot.group();
  const people: readonly { readonly person: Person; readonly user: User; readonly chat: Chat }[] = [
    { person: inChat(ana.user, ana.chat), ...ana },
    { person: inChat(beto.user, beto.chat), ...beto },
    { person: inChat(ana.user, group), user: ana.user, chat: group },
    { person: inChat(beto.user, group), user: beto.user, chat: group },
  ];
  let last: Message | undefined;
  const receive: TelegramOptions["receive"] = mode === "polling" ? { mode } : { mode, secretToken, url: site.url };
  const [first, second, third, fourth] = people.map((one) => one.person);
  if (!first || !second || !third || !fourth) throw new Error("four people make a rig");

  return {
    adapter(host) {
      const options: TelegramOptions = {
        name: "bot",
        token: bot.token,
        apiRoot: platform.url,
        groups: "always",
        receive,
        timing: impatientTiming,
      };
      const adapter = createTelegramAdapter(options, host.host);
      site.mount(adapter);
      return adapter;
    },
    people: [first, second],
    members: [third, fourth],
    secrets: [bot.token, bot.token.split(":")[1] ?? "", secretToken],
    async personSends(text, { person = first, quotes } = {}) {
      const from = people.find((one) => one.person === person) ?? ana;
      const answered = quotes === undefined ? {} : { reply_to_message: { message_id: Number(quotes), from: bot.user } };
      last = bot.message(from.chat, { from: from.user, text, ...answered });
    },
    async personMoves(move) {
      const { user, chat } = ana;
      switch (move.kind) {
        case "forwards":
          bot.message(chat, { from: user, text: move.text, forward_origin: { type: "hidden_user", date: 1 } });
          return;
        case "captions":
          bot.message(chat, { from: user, caption: move.text, photo: picture(bot) });
          return;
        case "records":
          bot.message(chat, { from: user, voice: { file_id: bot.file(bytes), duration: 2, mime_type: "audio/ogg" } });
          return;
        case "edits":
          bot.update({ edited_message: { ...last, text: move.text, edit_date: last?.date } });
          return;
        case "reacts":
          bot.update({ message_reaction: { chat, message_id: last?.message_id, user, date: 1 } }, { force: true });
          return;
        case "presses":
          bot.update({
            callback_query: { id: "77", from: user, data: move.text, message: { ...last, from: bot.user } },
          });
          return;
        case "echoes":
          bot.message(chat, { from: bot.user, text: move.text });
          return;
      }
    },
    async redeliver() {
      // Telegram may give the same message another update id.
      bot.update({ message: last });
    },
    sent: () =>
      bot.sent.map((message) => ({
        chat: String(message.chat.id),
        text: message.text ?? "",
        ref: String(message.message_id),
        ...replyOf(message),
      })),
    async fault(fault) {
      switch (fault) {
        case "refused":
          return bot.faults.add("sendMessage", faults.blocked);
        case "rate_limited":
          return bot.faults.add("sendMessage", faults.tooManyRequests(3));
        case "broken":
          return bot.faults.add("sendMessage", faults.internal);
        case "silent":
          return bot.faults.add("sendMessage", { kind: "hang", taken: true });
        case "cut":
          return bot.faults.add("sendMessage", { kind: "reset", taken: true });
        case "unreachable":
          await platform.unreachable(true);
          await sleep(20);
      }
    },
    async reports() {
      throw new Error(common.receipts);
    },
    async close() {
      await platform.close();
      await site.close();
    },
  };
}

const bytes = new TextEncoder().encode("the bytes of a file");

function picture(bot: FakeBot) {
  return [
    { file_id: bot.file(new Uint8Array(3)), file_size: 3, width: 1, height: 1 },
    { file_id: bot.file(bytes), file_size: bytes.byteLength, width: 9, height: 9 },
  ];
}

function inChat(user: User, chat: Chat): Person {
  return { chat: String(chat.id), sender: String(user.id), group: chat.type !== "private" };
}

function replyOf(message: Message): { replyTo?: string } {
  const answered = message.reply_to_message as { message_id: number } | undefined;
  return answered ? { replyTo: String(answered.message_id) } : {};
}
