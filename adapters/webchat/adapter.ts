import { randomBytes, randomUUID } from "node:crypto";
import type { ChannelAdapter, ChannelHost, ChannelStatus, RateLimit } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { json, Refusal, refuse } from "./answer.js";
import { chatOf, cookieFor, createChats, isChatId, secretOf } from "./chats.js";
import { createDeadline, type Deadline } from "./deadline.js";
import type { Signal } from "./entry.js";
import { afterIdOf, createEvents } from "./events.js";
import { isFromHere } from "./incoming.js";
import { maxTextLength } from "./limits.js";
import { createMessages } from "./messages.js";
import type { WebchatOptions } from "./options.js";
import { createPageFiles } from "./page-files.js";
import { createRate } from "./rate.js";
import { takeReceipts } from "./receipts.js";
import { createSend } from "./send.js";

/** What a test may want otherwise. Times in ms. */
export interface WebchatTuning {
  /** A request is answered 503 when the store has not done its part by then. Default: 1,500. */
  readonly answerWithin?: number;
  /** A message that is not in the log by then is to be sent again. Default: 5,000. */
  readonly sendWithin?: number;
  /** Default: 15,000. */
  readonly heartbeat?: number;
  /** Open pages of one person in one process. Default: 4. */
  readonly streamsPerChat?: number;
  /** Messages of one person. Default: 20 in 10 s. */
  readonly messages?: RateLimit;
  /** New chats in this process, whoever opens them. Default: 120 in a minute. */
  readonly newChats?: RateLimit;
  /** A visitor's secret: 128 random bits as base64url. */
  readonly newSecret?: () => string;
}

/**
 * One webchat account. `handle` serves, below its mount point: GET / (the page) and its files; POST /session (the
 * cookie); POST /messages; POST /receipts; GET /events.
 */
export function createWebchatAdapter(
  options: WebchatOptions,
  host: ChannelHost,
  tuning: WebchatTuning = {},
): ChannelAdapter {
  const { name } = options;
  const { log } = host.store;
  const newSecret = tuning.newSecret ?? (() => randomBytes(16).toString("base64url"));
  const answerDeadline = () => createDeadline(tuning.answerWithin ?? 1_500);
  const chats = createChats(host.store, host.now);
  const messages = createMessages(name, host, chats);
  const events = createEvents(host, {
    heartbeatMs: tuning.heartbeat ?? 15_000,
    perChat: tuning.streamsPerChat ?? 4,
    deadline: answerDeadline,
  });
  const files = createPageFiles();
  const newChats = createRate(tuning.newChats ?? { count: 120, perMs: 60_000 }, host.now);
  const writing = createRate(tuning.messages ?? { count: 20, perMs: 10_000 }, host.now);
  const asking = createRate({ count: 120, perMs: 10_000 }, host.now);
  let status: ChannelStatus = { state: "starting", since: host.now() };

  function become(state: ChannelStatus["state"]): void {
    if (status.state === state) return;
    status = { state, since: host.now() };
    host.statusChanged(status);
  }

  async function session(request: Request, deadline: Deadline): Promise<Response> {
    const page = { title: options.title ?? name, locale: options.locale, maxTextLength };
    const secret = secretOf(request);
    const chat = secret === undefined ? undefined : chatOf(name, secret);
    if (chat !== undefined && (await chats.isKnown(chat, deadline))) return json(200, { chat, ...page });
    pace(newChats, "all", "new_chats_refused");
    const fresh = newSecret();
    const opened = chatOf(name, fresh);
    await chats.open(opened, deadline);
    return json(200, { chat: opened, ...page }, { "set-cookie": cookieFor(fresh, request) });
  }

  async function visitorOf(request: Request, deadline: Deadline): Promise<string> {
    const secret = secretOf(request);
    const chat = secret === undefined ? undefined : chatOf(name, secret);
    if (chat === undefined || !(await chats.isKnown(chat, deadline))) throw new Refusal("no_session");
    return chat;
  }

  function pace(rate: ReturnType<typeof createRate>, key: string, event: string): void {
    const wait = rate.take(key);
    if (wait === 0) return;
    host.count(event);
    throw new Refusal("too_many", wait);
  }

  async function route(request: Request, path: string): Promise<Response> {
    const asked = routes[path];
    if (asked === undefined) {
      if (request.method !== "GET" && request.method !== "HEAD") throw new Refusal("method_not_allowed");
      if (path === "/" && !new URL(request.url).pathname.endsWith("/")) return toFolder(request);
      const file = await files.answer(request, path);
      if (!file) throw new Refusal("not_found");
      return file;
    }
    if (request.method !== asked.method) throw new Refusal("method_not_allowed");
    if (!isFromHere(request)) {
      host.count("request_of_other_origin");
      throw new Refusal("origin_refused");
    }
    return await asked.answer(request, answerDeadline());
  }

  const routes: Readonly<
    Record<string, { method: string; answer(request: Request, deadline: Deadline): Promise<Response> }>
  > = {
    "/session": { method: "POST", answer: session },
    "/messages": {
      method: "POST",
      async answer(request, deadline) {
        const chat = await visitorOf(request, deadline);
        pace(writing, chat, "messages_refused");
        return await messages.take(request, chat, deadline);
      },
    },
    "/receipts": {
      method: "POST",
      async answer(request, deadline) {
        const chat = await visitorOf(request, deadline);
        pace(asking, chat, "requests_refused");
        return await takeReceipts(request, chat, host, deadline);
      },
    },
    "/events": {
      method: "GET",
      async answer(request, deadline) {
        const chat = await visitorOf(request, deadline);
        pace(asking, chat, "requests_refused");
        return await events.open(chat, afterIdOf(request), deadline);
      },
    },
  };

  async function signalTo(chat: string, signal: Signal): Promise<void> {
    if (!isChatId(chat)) return;
    try {
      await createDeadline(tuning.answerWithin ?? 1_500).within(log.signal(chat, JSON.stringify(signal)));
    } catch {
      host.count("signal_lost");
    }
  }

  const newId = () => `web-${randomUUID()}`;

  return {
    channel: "webchat",
    name,
    capabilities: {
      receipts: "read",
      noticeLevel: "delivered",
      maxTextLength,
      // The page shows text as text.
      formattingMarks: "",
      sentAtResolution: 1,
      ownsIds: true,
      repeatsSafely: true,
      sendsOverConnection: false,
      typing: true,
      marksRead: true,
      limits: { account: { count: 1_000, perMs: 1_000 }, chat: { count: 20, perMs: 1_000 } },
    },
    async start() {
      become("open");
    },
    async stop() {
      become("stopped");
      events.closeAll();
    },
    status: () => status,
    newId,
    send: createSend(host, { newId, within: tuning.sendWithin ?? 5_000 }),
    typing: (chat) => signalTo(chat, { version: 1, kind: "typing" }),
    markRead: ({ chat, id }) => signalTo(chat, { version: 1, kind: "taken", id }),
    async handle(request, path) {
      try {
        if (status.state === "stopped") throw new Refusal("stopped", 1_000);
        return await route(request, path);
      } catch (error) {
        if (error instanceof Refusal) return refuse(error);
        const code = error instanceof DaleError ? error.code : "unexpected";
        host.logger.warn({ channel: "webchat", account: name, code }, "A webchat request was not taken over.");
        return refuse(new Refusal("store_unavailable", 1_000));
      }
    },
  };
}

/** The page's files are relative to a folder. The address is relative too: a proxy may serve it somewhere else. */
function toFolder(request: Request): Response {
  const { pathname, search } = new URL(request.url);
  return new Response(null, {
    status: 307,
    headers: { location: `${pathname.slice(pathname.lastIndexOf("/") + 1)}/${search}`, "cache-control": "no-store" },
  });
}
