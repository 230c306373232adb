import type { GraphApi } from "./graph-api.js";

/** Signs of life for the person: blue ticks, and "typing…". One call shows both, and needs a message of theirs. */
export interface Signs {
  /** A message came in that chat. */
  heard(chat: string, id: string): void;
  /** It was taken up: an answer is being written. */
  taken(chat: string, id: string): Promise<void>;
  typing(chat: string): Promise<void>;
  /** What was shown is gone: a message of ours came. */
  answered(chat: string): void;
}

export interface SignsOptions {
  readonly api: GraphApi;
  readonly phoneNumberId: string;
  readonly now: () => number;
}

/** Meta shows it for 25 s. */
const shownMs = 20_000;
/** Chats that are remembered. */
const most = 10_000;

export function createSigns({ api, phoneNumberId, now }: SignsOptions): Signs {
  const chats = new Map<string, { readonly id: string; readonly until: number }>();
  const remember = (chat: string, id: string, until: number) => {
    chats.delete(chat);
    chats.set(chat, { id, until });
    if (chats.size <= most) return;
    const [oldest] = chats.keys();
    if (oldest !== undefined) chats.delete(oldest);
  };
  const show = async (chat: string, id: string): Promise<void> => {
    remember(chat, id, now() + shownMs);
    await api.post(`${phoneNumberId}/messages`, {
      messaging_product: "whatsapp",
      status: "read",
      message_id: id,
      typing_indicator: { type: "text" },
    });
  };
  return {
    heard: (chat, id) => remember(chat, id, 0),
    taken: show,
    async typing(chat) {
      const last = chats.get(chat);
      if (last && last.until <= now()) await show(chat, last.id);
    },
    answered(chat) {
      const last = chats.get(chat);
      if (last) remember(chat, last.id, 0);
    },
  };
}
