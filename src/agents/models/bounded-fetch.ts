import { DaleError } from "../../errors/index.js";

/**
 * A fetch for model endpoints: follows no redirect (a key would go along, and a POST is not for somewhere else), and
 * reads no answer beyond `maxBytes` (counted after decompression).
 */
export function boundedFetch(fetch: typeof globalThis.fetch, maxBytes: number): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    if (response.body === null) return response;
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.byteLength;
      if (size > maxBytes) {
        throw new DaleError("model_failed", `The model endpoint's answer is larger than ${maxBytes} bytes.`);
      }
      chunks.push(chunk);
    }
    const headers = new Headers(response.headers);
    headers.delete("content-encoding");
    headers.delete("content-length");
    return new Response(Buffer.concat(chunks), { status: response.status, headers });
  };
}
