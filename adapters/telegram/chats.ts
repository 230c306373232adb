import type { ChannelStore } from "../../src/channels/index.js";

/**
 * A group that becomes a supergroup gets another chat id, and its messages are numbered from 1 again. Dale goes on
 * calling it by its first id, so that sessions go on: messages of the new chat are renamed when they arrive, and answers
 * redirected when they leave. https://core.telegram.org/bots/api#responseparameters
 */
export interface Chats {
  /** What Dale calls that chat, and the numbering of its messages. Rejects when the store is away. */
  known(chat: string): Promise<Place>;
  /** Where messages for that chat go now, and the numbering there. Goes on without the store: Telegram will tell. */
  target(chat: string): Promise<Place>;
  /** Notes down that the group has become that supergroup. Rejects when the store is away. */
  moved(from: string, to: string): Promise<void>;
  /** The same when Telegram says so while we send: goes on without the store. */
  redirected(from: string, to: string): Promise<Place>;
}

export interface Place {
  readonly chat: string;
  readonly numbering: Numbering;
}

/** How Dale names a chat's messages: those of a chat that was moved get names and places behind all earlier ones. */
export interface Numbering {
  idOf(messageId: number): string;
  orderOf(messageId: number): number;
  /** The platform's number of a message, unless it is of the chat as it was before it was moved. */
  messageIdOf(id: string): number | undefined;
}

const first: Numbering = {
  idOf: (messageId) => String(messageId),
  orderOf: (messageId) => messageId,
  messageIdOf: (id) => (/^[1-9]\d{0,15}$/.test(id) ? Number(id) : undefined),
};
/** Message ids are 32-bit numbers. */
const behindAll = 2 ** 40;
const second: Numbering = {
  idOf: (messageId) => `s${messageId}`,
  orderOf: (messageId) => behindAll + messageId,
  messageIdOf: (id) => (id.startsWith("s") ? first.messageIdOf(id.slice(1)) : undefined),
};

export function createChats(store: ChannelStore): Chats {
  // A move is for ever; that there was none may change in another process at any time.
  const cache = new Map<string, string>();
  async function read(key: string): Promise<string | undefined> {
    const known = cache.get(key) ?? (await store.get(key));
    if (known !== undefined) cache.set(key, known);
    return known;
  }
  async function moved(from: string, to: string): Promise<void> {
    if ((await read(`was:${to}`)) === undefined) await store.set(`was:${to}`, from);
    if ((await read(`now:${from}`)) === undefined) await store.set(`now:${from}`, to);
  }
  return {
    moved,
    async redirected(from, to) {
      await moved(from, to).catch(() => undefined);
      return { chat: to, numbering: second };
    },
    async known(chat) {
      const was = await read(`was:${chat}`);
      return was === undefined ? { chat, numbering: first } : { chat: was, numbering: second };
    },
    async target(chat) {
      // Only groups are ever moved; their ids are negative.
      const now = chat.startsWith("-") ? await read(`now:${chat}`).catch(() => undefined) : undefined;
      return now === undefined ? { chat, numbering: first } : { chat: now, numbering: second };
    },
  };
}
