import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { ChannelHost } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import type { Receiving } from "./receiving.js";

export interface WebhookOptions {
  readonly account: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  readonly host: ChannelHost;
  readonly receiving: Receiving;
  /** How long a call may wait for the store, ms. */
  readonly waitMs: number;
}

/** Meta's calls hold up to 3 MB. */
const maxBodyBytes = 4 * 1024 * 1024;

/** Meta asks whether this is the place that was typed into its console. */
export function answerVerification(request: Request, { verifyToken, host }: WebhookOptions): Response {
  const { searchParams } = new URL(request.url);
  const challenge = searchParams.get("hub.challenge");
  const known = isSame(searchParams.get("hub.verify_token") ?? "", verifyToken);
  if (searchParams.get("hub.mode") !== "subscribe" || !known || challenge === null || challenge.length > 1024) {
    host.count("verification_refused");
    return new Response(null, { status: 403 });
  }
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return new Response(challenge, { status: 200, headers });
}

/**
 * Answers one call: 200 only when everything in it may be forgotten at Meta. After anything else Meta calls again, for
 * seven days, with all of it.
 */
export async function answerCall(request: Request, options: WebhookOptions): Promise<Response> {
  const { account, host } = options;
  const receivedAt = host.now();
  const signature = request.headers.get("x-hub-signature-256");
  const body = await read(request);
  if (body === "too_large") return new Response(null, { status: 413 });
  if (!isSigned(body, signature, options.appSecret)) {
    host.count("webhook_refused");
    return new Response(null, { status: 401 });
  }
  const call = parse(body);
  if (call === undefined) {
    host.count("webhook_garbage");
    return new Response(null, { status: 400 });
  }
  try {
    await within(options.waitMs, options.receiving.takeCall(call, receivedAt));
    return new Response(null, { status: 200 });
  } catch (error) {
    const code = error instanceof DaleError ? error.code : "unknown";
    host.logger.warn({ account, code }, "a webhook call could not be taken over, and stays at Meta");
    return new Response(null, { status: 503, headers: { "retry-after": "1" } });
  }
}

/** Over the bytes as they came: Meta escapes what is no ASCII, and the same JSON written again has another signature. */
function isSigned(body: Uint8Array, signature: string | null, secret: string): boolean {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(signature ?? "") ?? [];
  if (hex === undefined) return false;
  return timingSafeEqual(Buffer.from(hex, "hex"), createHmac("sha256", secret).update(body).digest());
}

/** In a time that does not tell how much of the token was right, nor how long it is. */
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

/** An object, or undefined. */
function parse(body: Uint8Array): object | undefined {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
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
