import type { ChannelStore } from "../../src/channels/index.js";
import type { Sealer } from "./sealing.js";

/** What was sent a short while ago: a phone that could not read it asks for it again, and receipts name it. */
export interface SentLog {
  /** To be called before it is sent. Rejects when the store is away. */
  write(id: string, sent: SentText): Promise<void>;
  read(id: string): Promise<SentText | undefined>;
}

export interface SentText {
  readonly chat: string;
  /** Whose receipt counts: in a group everybody's phone sends one. */
  readonly sender: string;
  readonly text: string;
  readonly replyTo?: string;
}

/** Phones ask again within minutes, or when they are back; receipts come for as long. */
const keptMs = 7 * 24 * 3_600_000;

export function createSentLog(store: ChannelStore, sealer: Sealer): SentLog {
  const nameOf = (id: string) => `sent:${id}`;
  return {
    async write(id, sent) {
      await store.set(nameOf(id), sealer.seal(nameOf(id), JSON.stringify({ version: 1, ...sent })), keptMs);
    },
    async read(id) {
      const kept = await store.get(nameOf(id));
      if (kept === undefined) return undefined;
      const record = JSON.parse(sealer.open(nameOf(id), kept)) as { readonly version: unknown } & SentText;
      return record.version === 1 ? record : undefined;
    },
  };
}
