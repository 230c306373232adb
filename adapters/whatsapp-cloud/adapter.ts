import type {
  Attachment,
  ChannelAdapter,
  ChannelCapabilities,
  ChannelHost,
  ChannelState,
  ChannelStatus,
} from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { createGraphApi } from "./graph-api.js";
import { fetchMedia } from "./media.js";
import { defaultTiming, type WhatsappCloudOptions } from "./options.js";
import { createPeople } from "./people.js";
import { createReceiving, type Sibling } from "./receiving.js";
import { createSending } from "./sending.js";
import { createSigns } from "./signs.js";
import { watchToken } from "./token-watch.js";
import { answerCall, answerVerification } from "./webhook.js";

export type WhatsappCloudAdapter = ChannelAdapter &
  Sibling &
  Required<Pick<ChannelAdapter, "typing" | "markRead" | "fetchAttachment" | "handle">> & {
    readonly channel: "whatsapp_cloud";
  };

const capabilities: ChannelCapabilities = {
  receipts: "read",
  noticeLevel: "delivered",
  // Meta counts code points; UTF-16 units are never fewer.
  maxTextLength: 4096,
  formattingMarks: "*_~`",
  sentAtResolution: 1000,
  ownsIds: false,
  repeatsSafely: false,
  sendsOverConnection: false,
  typing: true,
  marksRead: true,
  // https://developers.facebook.com/documentation/business-messaging/whatsapp/throughput: 80 a second for a number; to
  // one person 45 in a burst, which is paid back at one in 6 s.
  limits: { account: { count: 80, perMs: 1_000 }, chat: { count: 45, perMs: 270_000 } },
};

/** @throws DaleError `config_invalid` without an app secret: every webhook call would be believed, or none */
export function createWhatsappCloudAdapter(options: WhatsappCloudOptions, host: ChannelHost): WhatsappCloudAdapter {
  const { name, phoneNumberId, graphUrl, appSecret, verifyToken } = options;
  if (appSecret === "" || verifyToken === "") {
    throw new DaleError("config_invalid", `whatsapp_cloud:${name} needs an app_secret and a verify_token.`);
  }
  const timing = { ...defaultTiming, ...options.timing };
  const api = createGraphApi({ url: graphUrl, token: options.accessToken, timeoutMs: timing.request });
  const people = createPeople(host.store, host.count);
  const signs = createSigns({ api, phoneNumberId, now: host.now });

  /** What `start` set going. `stopped`: not to receive; before any `start`, webhook calls are taken. */
  let running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  let stopped = false;
  let status: ChannelStatus = { state: "stopped", since: host.now() };
  const tell = (state: ChannelState, reason?: string) => {
    if (status.state === state && status.reason === reason) return;
    status = { state, since: host.now(), ...(reason === undefined ? {} : { reason }) };
    host.statusChanged(status);
  };
  const trouble = (reason: string | undefined) => {
    if (running) tell(reason === undefined ? "open" : "reconnecting", reason);
  };

  const sending = createSending({
    api,
    phoneNumberId,
    people,
    store: host.store,
    lateTemplate: options.lateTemplate,
    troubleMs: timing.trouble,
    pairMs: timing.pair,
    now: host.now,
    trouble,
  });
  const receiving = createReceiving({
    account: name,
    phoneNumberId,
    groups: options.groups,
    siblings: options.siblings ?? (() => undefined),
    host,
    people,
    async heard(message) {
      signs.heard(message.chat, message.id);
      await sending.heard(message.chat, message.sentAt);
    },
  });
  const webhook = { account: name, appSecret, verifyToken, host, receiving, waitMs: timing.webhook };

  return {
    channel: "whatsapp_cloud",
    name,
    capabilities,
    async start() {
      if (running) return;
      stopped = false;
      const stop = new AbortController();
      tell("starting");
      running = { stop, ended: watchToken({ api, phoneNumberId, timing, trouble, status: () => status }, stop.signal) };
      tell("open");
    },
    async stop() {
      stopped = true;
      const was = running;
      running = undefined;
      was?.stop.abort();
      await was?.ended;
      tell("stopped");
    },
    status: () => status,
    async send(message, signal) {
      const result = await sending.send(message, signal);
      if (result.status === "accepted") signs.answered(message.chat);
      return result;
    },
    typing: (chat) => signs.typing(chat),
    markRead: ({ chat, id }) => signs.taken(chat, id),
    fetchAttachment: (attachment: Attachment, maxBytes: number, signal?: AbortSignal) =>
      fetchMedia({ api, graphUrl }, attachment, maxBytes, signal),
    async handle(request, path) {
      if (path !== "/") return new Response(null, { status: 404 });
      if (request.method === "GET") return answerVerification(request, webhook);
      if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "GET, POST" } });
      if (stopped) return new Response(null, { status: 503, headers: { "retry-after": "1" } });
      return answerCall(request, webhook);
    },
    async take(values, receivedAt) {
      if (stopped) throw new DaleError("channel_failed", "That account has stopped receiving.");
      await receiving.take(values, receivedAt);
    },
  };
}
