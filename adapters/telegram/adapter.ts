import type {
  Attachment,
  ChannelAdapter,
  ChannelCapabilities,
  ChannelHost,
  ChannelState,
  ChannelStatus,
} from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { createBotApi } from "./bot-api.js";
import { createChats } from "./chats.js";
import { fetchFile } from "./files.js";
import type { BotIdentity } from "./group.js";
import { defaultTiming, type TelegramOptions } from "./options.js";
import { pause } from "./pause.js";
import { poll } from "./polling.js";
import { createReceiving } from "./receiving.js";
import { createSending } from "./sending.js";
import { answerPush, openWebhook } from "./webhook.js";

export type TelegramAdapter = ChannelAdapter &
  Required<Pick<ChannelAdapter, "typing" | "fetchAttachment" | "handle">> & { readonly channel: "telegram" };

/** https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this */
const capabilities: ChannelCapabilities = {
  // A bot never learns whether a message was delivered or read.
  receipts: "accepted",
  noticeLevel: "accepted",
  // Telegram counts code points; UTF-16 units are never fewer.
  maxTextLength: 4096,
  // Without a parse_mode nothing is formatted.
  formattingMarks: "",
  sentAtResolution: 1000,
  ownsIds: false,
  repeatsSafely: false,
  sendsOverConnection: false,
  typing: true,
  marksRead: false,
  limits: {
    account: { count: 30, perMs: 1_000 },
    chat: { count: 1, perMs: 1_000 },
    group: { count: 20, perMs: 60_000 },
  },
};

/** How long the bot's own name may be asked for, and a button's press answered. */
const asideMs = 5_000;

export function createTelegramAdapter(options: TelegramOptions, host: ChannelHost): TelegramAdapter {
  const { name, receive } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const api = createBotApi(options.token, options.apiRoot);
  const chats = createChats(host.store);
  const sending = createSending({ api, chats, timeoutMs: timing.request });

  let status: ChannelStatus = { state: "stopped", since: host.now() };
  const tell = (state: ChannelState, reason?: string) => {
    if (status.state === state && status.reason === reason) return;
    status = { state, since: host.now(), ...(reason === undefined ? {} : { reason }) };
    host.statusChanged(status);
  };

  let username: string | undefined;
  const bot: BotIdentity = {
    id: api.botId,
    async username() {
      if (username !== undefined) return username;
      const attempt = await api.attempt((raw, signal) => raw.getMe(signal), Math.min(asideMs, timing.request));
      if (!attempt.ok) throw new DaleError("channel_failed", "Telegram cannot be asked for the bot's name.");
      username = attempt.result.username;
      return username;
    },
  };
  const take = createReceiving({
    account: name,
    groups: options.groups,
    host,
    chats,
    bot,
    answerPress(id) {
      void api.attempt((raw, signal) => raw.answerCallbackQuery({ callback_query_id: id }, signal), asideMs);
    },
  });
  const shared = { account: name, api, host, take, timing, tell };

  /** What `start` set going; `stopped` tells that the account is not to receive, also before any `start`. */
  let running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  let stopped = false;

  return {
    channel: "telegram",
    name,
    capabilities,
    async start() {
      if (running) return;
      stopped = false;
      const stop = new AbortController();
      tell("starting");
      const ended =
        receive.mode === "polling"
          ? poll({ ...shared, replaceWebhook: receive.replaceWebhook ?? false }, stop.signal)
          : openWebhook({ ...shared, ...receive }, stop.signal);
      running = { stop, ended };
    },
    async stop() {
      stopped = true;
      const was = running;
      running = undefined;
      was?.stop.abort();
      if (was) {
        // An update whose enqueue hangs is not acknowledged: nothing is lost by not waiting for it any longer.
        const patience = new AbortController();
        await Promise.race([was.ended, pause(timing.request, patience.signal)]);
        patience.abort();
      }
      tell("stopped");
    },
    status: () => status,
    send: (message, signal) => sending.send(message, signal),
    typing: (chat) => sending.typing(chat),
    fetchAttachment: (attachment: Attachment, maxBytes: number, signal?: AbortSignal) =>
      fetchFile(api, attachment, maxBytes, timing.request, signal),
    async handle(request, path) {
      if (receive.mode !== "webhook" || path !== "/") return new Response(null, { status: 404 });
      if (stopped) return new Response(null, { status: 503, headers: { "retry-after": "1" } });
      return answerPush(request, { ...shared, ...receive });
    },
  };
}
