import { z } from "zod";
import type { Attachment } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import type { Fault, GraphApi } from "./graph-api.js";

const named = z.object({ url: z.url({ protocol: /^https?$/ }), file_size: z.coerce.number().optional() });

export interface MediaOptions {
  readonly api: GraphApi;
  readonly graphUrl: string;
}

/**
 * The bytes of an attachment. Meta names a URL that is good for five minutes, and keeps the file for 30 days.
 * @throws DaleError `attachment_unavailable` when it is too large, gone or has no bytes; `channel_failed` when Meta
 * cannot be reached
 */
export async function fetchMedia(
  { api, graphUrl }: MediaOptions,
  attachment: Attachment,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const { ref } = attachment;
  if (ref === undefined) throw unavailable("That kind of message has no file.");
  if ((attachment.size ?? 0) > maxBytes) throw tooLarge();
  let fault: Fault | undefined;
  // The URL may run out between the two calls: then there is a new one.
  for (let tries = 0; tries < 2; tries++) {
    const found = await api.get(encodeURIComponent(ref), signal);
    if (!found.ok) throw errorOf(found.fault);
    const place = named.safeParse(found.result);
    if (!place.success) throw unavailable("Meta names no place for that file.");
    const { url, file_size: size } = place.data;
    if ((size ?? 0) > maxBytes) throw tooLarge();
    // The token goes along.
    if (!url.startsWith("https:") && graphUrl.startsWith("https:")) {
      throw new DaleError("channel_failed", "Meta names a place for the file that is not safe.");
    }
    const bytes = await api.download(url, maxBytes, signal);
    if (bytes.ok) return bytes.result;
    fault = bytes.fault;
    if (fault.kind !== "refused" || fault.status >= 500) break;
  }
  throw errorOf(fault ?? { kind: "lost", code: "unknown", left: true });
}

function errorOf(fault: Fault): DaleError {
  if (fault.kind === "lost") {
    if (fault.code === "too_large") return tooLarge();
    return new DaleError("channel_failed", `Meta did not give the file (${fault.code}).`);
  }
  const { status, code, retryAfterMs } = fault;
  // 131052: the file could not be downloaded. 100: there is no object of that id (any more).
  if (status === 404 || status === 410 || code === 100 || code === 131052) return unavailable("The file is gone.");
  return new DaleError("channel_failed", `Meta did not give the file (${code ?? status}).`, {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

const unavailable = (reason: string) => new DaleError("attachment_unavailable", reason);
const tooLarge = () => unavailable("The file is larger than is allowed here.");
