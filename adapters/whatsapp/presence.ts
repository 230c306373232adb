import { isGroup } from "./jid.js";
import type { Pacing } from "./pacing.js";
import type { OpenLine } from "./sending.js";

/** Signs of life: best effort, they never throw. */
export interface Presence {
  typing(chat: string): Promise<void>;
  markRead(message: { readonly chat: string; readonly sender: string; readonly id: string }): Promise<void>;
}

export function createPresence(lineNow: () => OpenLine | undefined, pacing: Pacing): Presence {
  async function trying(work: (line: OpenLine) => Promise<void>): Promise<void> {
    const line = lineNow();
    if (line) await work(line).catch(() => undefined);
  }
  return {
    typing: (chat) =>
      trying(async ({ socket, people }) => {
        await socket.sendPresenceUpdate("composing", isGroup(chat) ? chat : await people.addressOf(chat));
      }),
    markRead: ({ chat, sender, id }) =>
      trying(async ({ people }) => {
        const group = isGroup(chat);
        const remoteJid = group ? chat : await people.addressOf(chat);
        const participant = group ? { participant: await people.addressOf(sender, chat) } : {};
        await pacing.reading();
        // The connection may be another one by now.
        await lineNow()?.socket.readMessages([{ remoteJid, id, fromMe: false, ...participant }]);
      }),
  };
}
