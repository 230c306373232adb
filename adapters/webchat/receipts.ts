import { z } from "zod";
import type { ChannelHost } from "../../src/channels/index.js";
import { json } from "./answer.js";
import type { Deadline } from "./deadline.js";
import { parseEntry } from "./entry.js";
import { readBody } from "./incoming.js";
import { historyEntries } from "./limits.js";

const body = z.strictObject({
  ids: z.array(z.string().min(1).max(128)).min(1).max(historyEntries),
  level: z.enum(["delivered", "read"]),
});

/** Hands on what the person's browser says that it has rendered, of messages of their own chat alone. */
export async function takeReceipts(
  request: Request,
  chat: string,
  host: ChannelHost,
  deadline: Deadline,
): Promise<Response> {
  const { ids, level } = await readBody(request, body);
  const sent = await deadline.within(sentIds(chat, host));
  const known = [...new Set(ids)].filter((id) => sent.has(id));
  if (known.length < ids.length) host.count("receipt_of_no_message");
  const at = host.now();
  for (const ref of known) await deadline.within(host.receipt({ ref, level, at, receivedAt: at }));
  return json(200, { ids: known });
}

async function sentIds(chat: string, host: ChannelHost): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const { value } of await host.store.log.read(chat, undefined, historyEntries)) {
    const entry = parseEntry(value);
    if (entry?.kind === "agent") ids.add(entry.id);
  }
  return ids;
}
