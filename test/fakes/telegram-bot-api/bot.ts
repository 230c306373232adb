import { createFaultScript, type FaultScript } from "./faults.js";
import type { Chat, Message, Update, UpdateBody, User } from "./objects.js";
import { createUpdateQueue, otherPoller, webhookIsSet } from "./update-queue.js";
import { createWebhookPusher, type Push, type Webhook, type WebhookPusher } from "./webhook-pusher.js";

export type Answer =
  | { readonly ok: true; readonly result: unknown }
  | {
      readonly ok: false;
      readonly error_code: number;
      readonly description: string;
      readonly parameters?: Readonly<Record<string, number>>;
    };

export interface Call {
  readonly method: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** One bot of the fake server: what people do to it, what it did, and what goes wrong. */
export interface FakeBot {
  readonly token: string;
  readonly user: User;
  readonly faults: FaultScript;
  /** A person with a private chat of theirs, which the bot may write to. */
  person(name?: string): { readonly user: User; readonly chat: Chat };
  /** A group that the bot is a member of. */
  group(type?: "group" | "supergroup"): Chat;
  /** Delivers a new message with those fields; id and date are the server's unless they are given. */
  message(chat: Chat, fields: Readonly<Record<string, unknown>>): Message;
  /** Delivers any update. `force`: also when the bot did not ask for its kind. */
  update(body: UpdateBody, options?: { readonly force?: boolean }): Update | undefined;
  /** Numbers updates from there on, as Telegram does with any number after a week without updates. */
  numberUpdatesFrom(id: number): void;
  /** Turns the group into a supergroup: the old id stops to work, and both service messages are delivered. */
  migrate(group: Chat, options?: { readonly silently?: boolean }): Chat;
  /** A file that getFile knows, and its `file_id`. */
  file(bytes: Uint8Array): string;
  /** From now on the chat answers 403 with that description; undefined ends it. */
  forbid(chat: Chat, description: string | undefined): void;
  /** Messages that the bot sent and that the server took, oldest first. */
  readonly sent: readonly Message[];
  readonly calls: readonly Call[];
  /** What was not confirmed yet. */
  pending(): readonly Update[];
  allowedUpdates(): readonly string[];
  webhook(): Webhook | undefined;
  pushes(): readonly Push[];
}

export interface FakeBotOptions {
  readonly id: number;
  readonly username: string;
  /** What stands for one second where the server waits before it pushes to a webhook again. Default 20 ms. */
  readonly pushUnitMs?: number;
  /** Ms since 1970. Default Date.now. */
  readonly now?: () => number;
}

/** The server's side of a bot. */
export interface ServedBot extends FakeBot {
  serve(method: string, payload: Readonly<Record<string, unknown>>, gone: AbortSignal): Promise<Answer>;
  fileAt(path: string): Uint8Array | undefined;
  stop(): Promise<void>;
}

const refuse = (error_code: number, description: string, parameters?: Record<string, number>): Answer => ({
  ok: false,
  error_code,
  description,
  ...(parameters ? { parameters } : {}),
});
const done = (result: unknown): Answer => ({ ok: true, result });

export function createBot(options: FakeBotOptions): ServedBot {
  const now = options.now ?? Date.now;
  const user: User = { id: options.id, is_bot: true, first_name: "Dale", username: options.username };
  const queue = createUpdateQueue(700_000);
  const chats = new Map<number, Chat>();
  const migrated = new Map<number, number>();
  const forbidden = new Map<number, string>();
  const files = new Map<string, Uint8Array>();
  const messageIds = new Map<number, Set<number>>();
  const lastIds = new Map<number | "joint", number>();
  const sent: Message[] = [];
  const calls: Call[] = [];
  const pushes: Push[] = [];
  let people = 0;
  let groups = 0;
  let webhook: Webhook | undefined;
  let pusher: WebhookPusher | undefined;

  /** Message ids ascend in both directions: per bot in private chats and groups, per chat in supergroups. */
  function newMessageId(chat: Chat): number {
    const line = chat.type === "supergroup" ? chat.id : "joint";
    const id = (lastIds.get(line) ?? 0) + 1;
    lastIds.set(line, id);
    return id;
  }
  function keep(message: Message): Message {
    const ids = messageIds.get(message.chat.id) ?? new Set();
    messageIds.set(message.chat.id, ids.add(message.message_id));
    return message;
  }
  function newMessage(chat: Chat, fields: Readonly<Record<string, unknown>>): Message {
    return keep({ message_id: newMessageId(chat), date: Math.floor(now() / 1000), chat, ...fields });
  }
  async function stopPushing(): Promise<void> {
    const stopping = pusher;
    pusher = undefined;
    await stopping?.stop();
    pushes.push(...(stopping?.pushes ?? []));
  }

  const methods: Record<string, (payload: Readonly<Record<string, unknown>>, gone: AbortSignal) => Promise<Answer>> = {
    getme: async () => done(user),
    async getupdates(payload, gone) {
      if (webhook) return refuse(409, webhookIsSet);
      queue.allow(payload.allowed_updates as string[] | undefined);
      const updates = await queue.poll({
        offset: Number(payload.offset ?? 0),
        limit: Number(payload.limit ?? 100),
        timeoutMs: Number(payload.timeout ?? 0) * 1000,
        gone,
      });
      return updates ? done(updates) : refuse(409, otherPoller);
    },
    async setwebhook(payload) {
      const secretToken = payload.secret_token as string | undefined;
      if (secretToken !== undefined && !/^[A-Za-z0-9_-]{1,256}$/.test(secretToken)) {
        return refuse(400, "Bad Request: secret token contains unallowed characters");
      }
      await stopPushing();
      queue.interrupt();
      queue.allow(payload.allowed_updates as string[] | undefined);
      if (payload.drop_pending_updates) queue.drop();
      const url = String(payload.url ?? "");
      webhook = url === "" ? undefined : { url, ...(secretToken === undefined ? {} : { secretToken }) };
      if (webhook) pusher = createWebhookPusher(webhook, queue, options.pushUnitMs ?? 20);
      return done(true);
    },
    async deletewebhook(payload) {
      await stopPushing();
      if (payload.drop_pending_updates) queue.drop();
      webhook = undefined;
      return done(true);
    },
    getwebhookinfo: async () =>
      done({
        url: webhook?.url ?? "",
        has_custom_certificate: false,
        pending_update_count: queue.pending().length,
        ...(queue.allowed().length > 0 ? { allowed_updates: queue.allowed() } : {}),
      }),
    async sendmessage(payload) {
      const chatId = Number(payload.chat_id);
      const movedTo = migrated.get(chatId);
      if (movedTo !== undefined) {
        const description = "Bad Request: group chat was upgraded to a supergroup chat";
        return refuse(400, description, { migrate_to_chat_id: movedTo });
      }
      const chat = chats.get(chatId);
      if (!chat) return refuse(400, "Bad Request: chat not found");
      const forbids = forbidden.get(chatId);
      if (forbids !== undefined) return refuse(403, forbids);
      const text = String(payload.text ?? "");
      if (/\p{Surrogate}/u.test(text)) return refuse(400, "Bad Request: strings must be encoded in UTF-8");
      if (text.trim() === "") return refuse(400, "Bad Request: message text is empty");
      if ([...text].length > 4096) return refuse(400, "Bad Request: message is too long");
      const reply = payload.reply_parameters as
        | { message_id: number; allow_sending_without_reply?: boolean }
        | undefined;
      const found = reply !== undefined && messageIds.get(chatId)?.has(reply.message_id) === true;
      if (reply && !found && !reply.allow_sending_without_reply) {
        return refuse(400, "Bad Request: message to be replied not found");
      }
      const message = newMessage(chat, {
        from: user,
        text,
        ...(reply && found ? { reply_to_message: { message_id: reply.message_id, chat, date: 1 } } : {}),
      });
      sent.push(message);
      return done(message);
    },
    sendchataction: async (payload) =>
      chats.has(Number(payload.chat_id)) ? done(true) : refuse(400, "Bad Request: chat not found"),
    answercallbackquery: async () => done(true),
    async getfile(payload) {
      const id = String(payload.file_id);
      const bytes = files.get(id);
      if (!bytes) return refuse(400, "Bad Request: invalid file_id");
      if (bytes.byteLength > 20 * 1024 * 1024) return refuse(400, "Bad Request: file is too big");
      const file = { file_id: id, file_unique_id: `u${id}`, file_size: bytes.byteLength, file_path: `documents/${id}` };
      return done(file);
    },
  };

  return {
    token: `${options.id}:AAF_fake-token-of-${options.username}`,
    user,
    faults: createFaultScript(),
    person(name = "Ana") {
      const id = options.id * 10 + ++people;
      const chat: Chat = { id, type: "private", first_name: name };
      chats.set(id, chat);
      return { user: { id, is_bot: false, first_name: name }, chat };
    },
    group(type = "supergroup") {
      const id = (type === "supergroup" ? -1_000_000_000_000 : 0) - options.id * 10 - ++groups;
      const chat: Chat = { id, type, title: "Ventas" };
      chats.set(id, chat);
      return chat;
    },
    message(chat, fields) {
      const message = newMessage(chat, fields);
      queue.add({ message }, false);
      return message;
    },
    update: (body, how = {}) => queue.add(body, how.force ?? false),
    numberUpdatesFrom: queue.goOnFrom,
    migrate(group, how = {}) {
      const id = -1_000_000_000_000 - options.id * 10 - ++groups;
      const chat: Chat = { id, type: "supergroup", title: group.title ?? "" };
      chats.set(id, chat);
      chats.delete(group.id);
      migrated.set(group.id, id);
      if (how.silently) return chat;
      queue.add({ message: newMessage(group, { from: user, migrate_to_chat_id: id }) }, false);
      queue.add({ message: newMessage(chat, { from: user, migrate_from_chat_id: group.id }) }, false);
      return chat;
    },
    file(bytes) {
      const id = `F${files.size + 1}`;
      files.set(id, bytes);
      return id;
    },
    forbid(chat, description) {
      if (description === undefined) forbidden.delete(chat.id);
      else forbidden.set(chat.id, description);
    },
    sent,
    calls,
    pending: () => queue.pending(),
    allowedUpdates: () => queue.allowed(),
    webhook: () => webhook,
    pushes: () => [...pushes, ...(pusher?.pushes ?? [])],
    async serve(method, payload, gone) {
      calls.push({ method, payload });
      const serve = methods[method.toLowerCase()];
      return serve ? serve(payload, gone) : refuse(404, "Not Found");
    },
    fileAt: (path) => files.get(path.replace(/^documents\//, "")),
    async stop() {
      queue.interrupt();
      await stopPushing();
    },
  };
}
