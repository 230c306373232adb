import { Readable } from "node:stream";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { startDeadline } from "./deadline.js";
import { HttpFault } from "./fault.js";
import type { HttpClient } from "./http-client.js";
import { tenantTimeoutMs } from "./tenant-access.js";

/** A request of the SDK lives at most as long as the call that it serves, plus what the SDK needs to give up first. */
const requestMs = tenantTimeoutMs + 5_000;

/**
 * `fetch` for the MCP SDK over the guarded client: public hosts only, bounded answers, no redirects at all.
 * @param onBroken told when an answer breaks off after its head, of which the SDK tells nobody
 */
export function guardedFetch(http: HttpClient, onBroken: (fault: HttpFault) => void): FetchLike {
  return async (input, init = {}) => {
    const url = new URL(input);
    const method = init.method ?? "GET";
    const headers = new Headers(init.headers);
    // The standing stream of a server's own messages is declined, as a server without one would do; only a stream that
    // broke off is taken up again.
    if (method === "GET" && !headers.has("last-event-id")) return new Response(null, { status: 405 });
    const deadline = startDeadline(requestMs, init.signal ?? new AbortController().signal);
    try {
      const answer = await http.open(
        {
          method,
          url,
          target: `${url.pathname}${url.search}`,
          headers: Object.fromEntries(headers),
          ...(typeof init.body === "string" && { body: Buffer.from(init.body) }),
        },
        { deadline, guarded: true, once: false },
      );
      if (answer.status >= 300 && answer.status < 400) {
        answer.body.destroy();
        throw new HttpFault("redirected", false);
      }
      answer.body.on("close", () => deadline.end());
      answer.body.on("error", (error) => {
        if (error instanceof HttpFault && !isGivenUp(error)) onBroken(error);
      });
      return response(answer.status, answer.headers, answer.body);
    } catch (error) {
      deadline.end();
      throw error;
    }
  };
}

/** The SDK itself stopped reading: it has what it wants of this answer. */
function isGivenUp(fault: HttpFault): boolean {
  return fault.cause instanceof Error && fault.cause.name === "AbortError";
}

function response(status: number, from: Readonly<Record<string, unknown>>, body: Readable): Response {
  const headers = new Headers();
  for (const name of ["content-type", "mcp-session-id", "www-authenticate"]) {
    const value = from[name];
    if (typeof value === "string") headers.set(name, value);
  }
  if (status < 200 || status > 599) {
    body.destroy();
    throw new HttpFault("bad_answer", true);
  }
  if (status === 204 || status === 205) {
    body.destroy();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(body) as ReadableStream<Uint8Array>, { status, headers });
}
