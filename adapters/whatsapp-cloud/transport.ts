import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

/** A request without an answer. Its message holds no URL and no token. */
export class TransportError extends Error {
  /**
   * @param code Node's error code, `aborted` or `too_large`
   * @param left whether a byte of the request may have reached the other side; when not, nothing can have come of it
   */
  constructor(
    readonly code: string,
    readonly left: boolean,
  ) {
    super(`no answer: ${code}`);
    this.name = "TransportError";
  }
}

export interface Transport {
  /** Follows no redirect: the token would go along. @throws TransportError */
  fetch(url: string, init: TransportRequest): Promise<TransportAnswer>;
}

export interface TransportRequest {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface TransportAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** `Retry-After` in ms, where it was given in seconds. */
  readonly retryAfterMs?: number;
}

/**
 * HTTP that knows whether a request has left. `fetch` does not tell: there a connection that was refused, one that was
 * cut before TLS was up and one that was cut after the message had arrived look the same, but only the last of them may
 * have sent a message.
 *
 * An idle connection is given up after 4 s, before the other side does so: a message on a connection that the other
 * side is closing at that moment would be `unknown`. Until then it does not keep the process running.
 */
export function createTransport(): Transport {
  const pool = { keepAlive: true, timeout: 4_000 };
  const plain = new HttpAgent(pool);
  const tls = new HttpsAgent(pool);

  return {
    fetch(url, init) {
      return new Promise((resolve, reject) => {
        const secure = url.startsWith("https:");
        let left = false;
        if (init.signal.aborted) return reject(new TransportError("aborted", false));
        const { method, headers } = init;
        const length = init.body === undefined ? {} : { "content-length": String(Buffer.byteLength(init.body)) };
        const request: ClientRequest = (secure ? httpsRequest : httpRequest)(url, {
          method,
          agent: secure ? tls : plain,
          headers: { ...headers, ...length },
        });
        const fail = (code: string) => {
          init.signal.removeEventListener("abort", abort);
          reject(new TransportError(code, left));
          request.destroy();
        };
        const abort = () => fail("aborted");
        init.signal.addEventListener("abort", abort);
        request.on("socket", (socket) => {
          if (request.reusedSocket) left = true;
          else
            socket.once(secure ? "secureConnect" : "connect", () => {
              left = true;
            });
        });
        request.on("error", (error: NodeJS.ErrnoException) => fail(error.code ?? "unknown_error"));
        request.on("response", (response) => {
          collect(response, init.maxBytes).then(
            (body) => {
              init.signal.removeEventListener("abort", abort);
              resolve({ status: response.statusCode ?? 0, body, ...retryAfter(response) });
            },
            (error: NodeJS.ErrnoException) => fail(error.code ?? "unknown_error"),
          );
        });
        request.end(init.body);
      });
    },
  };
}

async function collect(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw Object.assign(new Error("the answer is too large"), { code: "too_large" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function retryAfter(response: IncomingMessage): { retryAfterMs?: number } {
  const seconds = response.headers["retry-after"];
  return seconds !== undefined && /^\d{1,6}$/.test(seconds) ? { retryAfterMs: Number(seconds) * 1000 } : {};
}
