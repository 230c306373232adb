import { createHash, timingSafeEqual } from "node:crypto";
import type { ChannelHost, ChannelState } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import type { BotApi } from "./bot-api.js";
import { outageOf } from "./fault-words.js";
import type { TelegramTiming } from "./options.js";
import { backoff, pause } from "./pause.js";
import type { TakeUpdate } from "./receiving.js";
import { allowedUpdates } from "./update.js";

export interface WebhookOptions {
  readonly account: string;
  readonly secretToken: string;
  readonly url?: string;
  readonly api: BotApi;
  readonly host: ChannelHost;
  readonly take: TakeUpdate;
  readonly timing: TelegramTiming;
  readonly tell: (state: ChannelState, reason?: string) => void;
}

/** An update is a message of at most 4096 characters with what it answers. */
const maxBodyBytes = 1024 * 1024;

/**
 * Answers one push of Telegram: 200 only when the update may be forgotten there. Telegram pushes the next message of a
 * chat only then, and pushes this one again after anything else, for up to 24 hours.
 */
export async function answerPush(request: Request, options: WebhookOptions): Promise<Response> {
  const { account, host, take, timing } = options;
  if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
  const secret = request.headers.get("x-telegram-bot-api-secret-token");
  if (!isSame(secret ?? "", options.secretToken)) {
    host.count("webhook_refused");
    return new Response(null, { status: 401 });
  }
  const body = await read(request);
  if (body === "too_large") return new Response(null, { status: 413 });
  const update = parse(body);
  if (update === undefined) {
    host.count("webhook_garbage");
    return new Response(null, { status: 400 });
  }
  try {
    await within(timing.webhook, take(update));
    return new Response(null, { status: 200 });
  } catch (error) {
    const code = error instanceof DaleError ? error.code : "unknown";
    host.logger.warn({ account, code }, "a message could not be taken over, and stays at Telegram");
    return new Response(null, { status: 503, headers: { "retry-after": "1" } });
  }
}

/** Sets the webhook, until it is set; without a `url` somebody else has set it. */
export async function openWebhook(options: WebhookOptions, stop: AbortSignal): Promise<void> {
  const { account, api, host, timing, tell, secretToken } = options;
  const { url } = options;
  if (url === undefined) return tell("open");
  for (let failures = 1; !stop.aborted; failures++) {
    const attempt = await api.attempt(
      (raw, signal) =>
        raw.setWebhook(
          {
            url: `${url}/webhooks/telegram/${account}`,
            secret_token: secretToken,
            allowed_updates: allowedUpdates,
          },
          signal,
        ),
      timing.request,
      stop,
    );
    if (stop.aborted) return;
    if (attempt.ok) return tell("open");
    host.logger.warn({ account, code: attempt.fault.code }, "the webhook could not be set");
    tell("reconnecting", `The webhook could not be set. ${outageOf(attempt.fault)}`);
    const asked = attempt.fault.kind === "refused" ? (attempt.fault.retryAfterMs ?? 0) : 0;
    await pause(Math.max(asked, backoff(timing.backoff, failures)), stop);
  }
}

/** In a time that does not tell how much of the secret was right, nor how long it is. */
function isSame(given: string, secret: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

async function read(request: Request): Promise<Uint8Array | "too_large"> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (!next || next.done) return Buffer.concat(chunks);
    size += next.value.byteLength;
    if (size > maxBodyBytes) {
      await reader?.cancel();
      return "too_large";
    }
    chunks.push(next.value);
  }
}

/** An object with an update's id, or undefined. */
function parse(body: Uint8Array): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    if (typeof parsed !== "object" || parsed === null || !("update_id" in parsed)) return undefined;
    return Number.isInteger(parsed.update_id) ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DaleError("store_unavailable", "The store did not answer in time.")), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
