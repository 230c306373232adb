import * as http from "node:http";
import * as https from "node:https";
import { pipeline, type Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Deadline } from "./deadline.js";
import { AddressRefused, bare, createEgress, type EgressOptions } from "./egress.js";
import { HttpFault } from "./fault.js";
import type { HttpRequest } from "./request.js";

export interface HttpClientOptions {
  readonly egress?: EgressOptions;
  /** PEM of certificate authorities to trust instead of the system's, for private networks. Default: the system's. */
  readonly ca?: string;
  /** Bytes of an answer, before and after decompression. Default 5 MiB. */
  readonly maxBytes?: number;
}

export interface OpenOptions {
  readonly deadline: Deadline;
  /** Public hosts only: for addresses that a tenant chose. */
  readonly guarded: boolean;
  /**
   * For writes: sent once and on a connection of its own. A pooled connection may be closed by the server while the
   * request is on its way; a read is then made again, and of a write nobody would know whether it was carried out.
   */
  readonly once: boolean;
}

/** An answer whose body is still to be read. The stream fails with HttpFault and stops at the size limit. */
export interface OpenAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Readable;
}

/** Outgoing HTTP: connection pools and the guard of addresses that a tenant chose. Follows no redirect. */
export interface HttpClient {
  /**
   * @throws HttpFault
   * @throws DaleError `turn_aborted`
   */
  open(request: HttpRequest, options: OpenOptions): Promise<OpenAnswer>;
  /** Closes every pooled connection, also those in use. */
  close(): void;
}

/** Idle pooled connections are dropped after this long, in milliseconds, or earlier where the server says so. */
const idleMs = 15_000;

export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const { egress = {}, maxBytes = 5 * 1024 * 1024, ca } = options;
  const guard = createEgress(egress);
  const trust = ca === undefined ? {} : { ca };
  const pools = { plain: pool(trust), guarded: pool(trust) };
  const agentFor = (secure: boolean, { guarded, once }: OpenOptions): http.Agent => {
    if (once) return secure ? new https.Agent({ ...trust, keepAlive: false }) : new http.Agent({ keepAlive: false });
    const chosen = guarded ? pools.guarded : pools.plain;
    return secure ? chosen.https : chosen.http;
  };

  async function open(request: HttpRequest, options: OpenOptions): Promise<OpenAnswer> {
    const aborted = options.deadline.aborted();
    if (aborted) throw aborted;
    const lookup = options.guarded ? admit(request.url) : undefined;
    const answer = await exchange(
      request,
      agentFor(request.url.protocol === "https:", options),
      lookup,
      options.deadline,
    );
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      body: bounded(answer, maxBytes, options.deadline),
    };
  }

  function admit(url: URL) {
    try {
      guard.admit(url);
    } catch (cause) {
      throw cause instanceof AddressRefused ? new HttpFault("address_refused", false, { cause }) : cause;
    }
    return guard.lookupFor(url);
  }

  return {
    open,
    close() {
      for (const { http: plain, https: secure } of [pools.plain, pools.guarded]) {
        plain.destroy();
        secure.destroy();
      }
    },
  };
}

function pool(trust: { readonly ca?: string }) {
  const settings = { keepAlive: true, maxFreeSockets: 16, timeout: idleMs };
  return { http: new http.Agent(settings), https: new https.Agent({ ...trust, ...settings }) };
}

/** Sends a request and waits for the head of its answer. A read whose pooled connection was already dead is sent again. */
async function exchange(
  request: HttpRequest,
  agent: http.Agent,
  lookup: http.RequestOptions["lookup"],
  deadline: Deadline,
): Promise<http.IncomingMessage> {
  for (;;) {
    const attempt = await send(request, agent, lookup, deadline);
    if (attempt !== "stale") return attempt;
  }
}

function send(
  request: HttpRequest,
  agent: http.Agent,
  lookup: http.RequestOptions["lookup"],
  deadline: Deadline,
): Promise<http.IncomingMessage | "stale"> {
  const { url } = request;
  const secure = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    let left = false;
    const outgoing = (secure ? https : http).request({
      protocol: url.protocol,
      hostname: bare(url.hostname),
      ...(url.port !== "" && { port: url.port }),
      path: request.target,
      method: request.method,
      headers: { ...request.headers, ...(request.body && { "content-length": request.body.length }) },
      agent,
      ...(lookup && { lookup }),
    });
    const stop = (): void => void outgoing.destroy();
    deadline.signal.addEventListener("abort", stop, { once: true });
    if (deadline.signal.aborted) stop();
    outgoing.once("socket", (socket) => {
      if (!socket.connecting) left = true;
      // Before these, the request waits inside this process: a refused connection or a bad certificate sent nothing.
      else socket.once(secure ? "secureConnect" : "connect", () => (left = true));
    });
    outgoing.once("response", (answer) => {
      deadline.signal.removeEventListener("abort", stop);
      resolve(answer);
    });
    outgoing.once("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(new HttpFault("bad_answer", left));
    });
    outgoing.on("error", (cause: NodeJS.ErrnoException) => {
      deadline.signal.removeEventListener("abort", stop);
      const stale = outgoing.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(cause.code ?? "");
      if (stale && !deadline.signal.aborted) resolve("stale");
      else reject(faultOf(cause, left, deadline));
    });
    outgoing.end(request.body);
  });
}

function faultOf(cause: NodeJS.ErrnoException, left: boolean, deadline: Deadline): Error {
  const aborted = deadline.aborted();
  if (aborted) return aborted;
  if (cause instanceof HttpFault) return cause;
  if (deadline.expired()) return new HttpFault("timeout", left, { cause });
  if (cause instanceof AddressRefused) return new HttpFault("address_refused", false, { cause });
  if (!left) return new HttpFault("unreachable", false, { cause });
  const nonsense = /^(HPE_|Z_|ERR__ERROR_FORMAT|ERR_PADDING|ERR_BROTLI)/.test(cause.code ?? "");
  return new HttpFault(nonsense ? "bad_answer" : "reset", true, { cause });
}

/** The body, decompressed, cut off with a fault at the limit: a compressed bomb is stopped while it unfolds. */
function bounded(answer: http.IncomingMessage, maxBytes: number, deadline: Deadline): Readable {
  const out = limit(maxBytes, (cause) => faultOf(cause, true, deadline));
  // Whoever reads `out` gets its error from the stream itself; until then nobody may be listening.
  out.on("error", () => {});
  const stop = (): void => void answer.destroy();
  const done = (): void => deadline.signal.removeEventListener("abort", stop);
  deadline.signal.addEventListener("abort", stop, { once: true });
  const declared = Number(answer.headers["content-length"] ?? 0);
  const decoder = decoderOf(answer.headers["content-encoding"]);
  if (declared > maxBytes || decoder === "unknown") {
    done();
    answer.destroy();
    out.destroy(new HttpFault(decoder === "unknown" ? "bad_answer" : "too_large", true));
  } else if (decoder === undefined) pipeline(answer, out, done);
  else pipeline(answer, limit(maxBytes), decoder, out, done);
  if (deadline.signal.aborted) stop();
  return out;
}

function decoderOf(encoding = "identity"): Transform | undefined | "unknown" {
  switch (encoding.trim().toLowerCase()) {
    case "":
    case "identity":
      return undefined;
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return "unknown";
  }
}

function limit(maxBytes: number, translate: (cause: NodeJS.ErrnoException) => Error = (cause) => cause): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > maxBytes) done(new HttpFault("too_large", true));
      else done(null, chunk);
    },
    destroy(cause, done) {
      done(cause && translate(cause));
    },
  });
}

/** Reads a body to its end. @throws HttpFault */
export async function readAll(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
