import { z } from "zod";
import type { ChannelHost } from "../../src/channels/index.js";
import { json, Refusal } from "./answer.js";
import type { Chats } from "./chats.js";
import type { Deadline } from "./deadline.js";
import type { Entry } from "./entry.js";
import { readBody } from "./incoming.js";
import { maxTextLength } from "./limits.js";
import { orderOfTyped } from "./place.js";

/** A message that waited longer is not sent any more: neither log nor queue remember for ever what they had already. */
const waitsAtMost = 86_400_000;

const body = z.strictObject({
  /** Chosen by the page: a repetition is the same message. */
  id: z.uuid(),
  text: z.string(),
  /** Id of the message that this one answers. */
  quotes: z.string().min(1).max(128).optional(),
  /** Log id of the last message that was on the person's screen when they pressed Enter. */
  seen: z.string().max(64).optional(),
  /** How long ago they pressed it, ms, where the message had to wait in the browser. */
  waitedMs: z.int().min(0).optional(),
  /** The chat that the page shows. */
  chat: z.string().max(64).optional(),
});

export interface Messages {
  /** Takes over what the person typed: 202 once it is durably enqueued. */
  take(request: Request, chat: string, deadline: Deadline): Promise<Response>;
}

export function createMessages(account: string, host: ChannelHost, chats: Chats): Messages {
  /** Per chat the message that is being taken over: the log and the queue are to agree about the order. */
  const lines = new Map<string, Promise<unknown>>();

  async function enqueue(chat: string, typed: z.infer<typeof body>, deadline: Deadline): Promise<void> {
    const receivedAt = host.now();
    const sentAt = receivedAt - (typed.waitedMs ?? 0);
    const quotes = typed.quotes === undefined ? {} : { quotes: typed.quotes };
    const append = (entry: Entry) =>
      deadline.within(host.store.log.append(chat, JSON.stringify(entry), `${entry.kind}:${entry.id}`));

    await chats.used(chat, deadline);
    const logId = await append({
      version: 1,
      kind: "person",
      id: typed.id,
      text: typed.text,
      at: sentAt,
      ...quotes,
    });
    const order = orderOfTyped(logId, typed.seen);
    await deadline.within(
      host.receive({
        channel: "webchat",
        account,
        chat,
        sender: chat,
        id: typed.id,
        group: false,
        text: typed.text,
        provenance: "typed",
        ...quotes,
        sentAt,
        receivedAt,
        ...(order === undefined ? {} : { order }),
        attachments: [],
      }),
    );
    await append({ version: 1, kind: "queued", id: typed.id, at: host.now() });
  }

  return {
    async take(request, chat, deadline) {
      const typed = await readBody(request, body);
      if (typed.chat !== undefined && typed.chat !== chat) throw new Refusal("other_chat");
      if (typed.text.trim() === "") throw new Refusal("text_empty");
      if (typed.text.length > maxTextLength) throw new Refusal("text_too_long");
      if ((typed.waitedMs ?? 0) > waitsAtMost) throw new Refusal("too_old");
      // Never repaired: consent is judged by the text as it was typed.
      if (/\p{Surrogate}/u.test(typed.text)) throw new Refusal("text_invalid");

      const before = lines.get(chat);
      const mine = (async () => {
        if (before) await deadline.within(before.catch(() => undefined));
        await enqueue(chat, typed, deadline);
      })();
      lines.set(chat, mine);
      try {
        await mine;
      } finally {
        if (lines.get(chat) === mine) lines.delete(chat);
      }
      return json(202, { id: typed.id });
    },
  };
}
