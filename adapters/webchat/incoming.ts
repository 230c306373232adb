import type { z } from "zod";
import { Refusal } from "./answer.js";

const bodyAtMost = 64 * 1024;

/**
 * Whether the request comes from our own page, or from no browser at all. Where a browser says it (`Sec-Fetch-Site`, in
 * secure contexts), that decides; elsewhere the origin's host has to be the one that was asked. A header that a proxy
 * adds cannot be added by another site's page without a preflight, which is never answered.
 */
export function isFromHere(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const origin = request.headers.get("origin");
  if (origin === null) return true;
  const asked = [new URL(request.url).host, request.headers.get("host"), request.headers.get("x-forwarded-host")];
  return URL.canParse(origin) && asked.includes(new URL(origin).host);
}

/**
 * The body as the schema has it.
 * @throws Refusal what is wrong with it
 */
export async function readBody<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new Refusal("unsupported_type");
  if (Number(request.headers.get("content-length") ?? 0) > bodyAtMost) throw new Refusal("body_too_large");
  const parsed = schema.safeParse(jsonOf(await bytesOf(request)));
  if (!parsed.success) throw new Refusal("invalid_request");
  return parsed.data;
}

async function bytesOf(request: Request): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > bodyAtMost) throw new Refusal("body_too_large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal("invalid_json");
  }
}
