import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { type Page, pageOf } from "./pages.js";

/**
 * A customer's back end over real HTTP: counts what it was asked to write, keeps what it received, and misbehaves when
 * told to. `GET /pages/<style>` serves rows in the pagination styles; every other GET answers `{rows: []}`.
 */
export type Fault =
  | { readonly kind: "status"; readonly status: number; readonly body?: string; readonly type?: string }
  /** Takes the request, does what it asks, and never answers. */
  | { readonly kind: "hang" }
  /** Resets the connection as soon as the request's head is there; nothing is written. */
  | { readonly kind: "reset_before" }
  /** Does what the request asks, then resets the connection instead of answering. */
  | { readonly kind: "reset_after" }
  /** Begins a good answer and resets in the middle of its body. */
  | { readonly kind: "reset_in_body" }
  | { readonly kind: "huge"; readonly bytes: number; readonly declared?: boolean; readonly type?: string }
  /** One byte at a time, for ever. */
  | { readonly kind: "drip"; readonly everyMs: number }
  /** Unfolds to `bytes` zeros. */
  | { readonly kind: "bomb"; readonly bytes: number }
  | { readonly kind: "redirect"; readonly status: number; readonly to: string }
  | { readonly kind: "content"; readonly type?: string; readonly body: string | Uint8Array; readonly status?: number }
  | { readonly kind: "garbage" }
  /** Answers with everything it was sent, headers included. */
  | { readonly kind: "echo" };

export interface Received {
  readonly method: string;
  /** As in the request line. */
  readonly target: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface FakeBackend {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** What was written, in order: a repeated idempotency key is written once. */
  readonly writes: readonly Received[];
  /** Bytes of answers that the sockets took. */
  sentBytes(): number;
  /** How many connections were made. */
  connections(): number;
  /** Misbehaves for the next `times` requests. Default: until told otherwise. */
  misbehave(fault: Fault, times?: number): void;
  behave(): void;
  close(): Promise<void>;
}

export async function startBackend(): Promise<FakeBackend> {
  const received: Received[] = [];
  const writes: Received[] = [];
  const keys = new Map<string, string>();
  const sockets = new Set<Socket>();
  let connections = 0;
  let sent = 0;
  let fault: { readonly what: Fault; left: number } | undefined;

  const take = (): Fault | undefined => {
    if (fault === undefined) return undefined;
    const { what } = fault;
    fault.left -= 1;
    if (fault.left <= 0) fault = undefined;
    return what;
  };

  const write = (request: Received): string => {
    const key = request.headers["idempotency-key"];
    const known = typeof key === "string" ? keys.get(key) : undefined;
    if (known !== undefined) return known;
    writes.push(request);
    const answer = JSON.stringify({ id: `rec-${writes.length}`, ok: true });
    if (typeof key === "string") keys.set(key, answer);
    return answer;
  };

  const server = createServer(async (incoming, outgoing) => {
    const planned = take();
    if (planned?.kind === "reset_before") return void incoming.socket.resetAndDestroy();
    const request = await receive(incoming);
    received.push(request);
    const answer = request.method === "GET" ? undefined : () => write(request);
    if (planned !== undefined) return misbehaveWith(planned, request, answer, incoming.socket, outgoing);
    const page = pageOf(new URL(request.target, `http://127.0.0.1:${port()}`));
    if (answer) json(outgoing, 201, answer());
    else if (page) servePage(outgoing, page);
    else json(outgoing, 200, JSON.stringify({ rows: [] }));
  });
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => {
      sent += socket.bytesWritten;
      sockets.delete(socket);
    });
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = (): number => (server.address() as AddressInfo).port;

  return {
    url: `http://127.0.0.1:${port()}`,
    port: port(),
    received,
    writes,
    sentBytes: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, sent),
    connections: () => connections,
    misbehave(what, times = Number.POSITIVE_INFINITY) {
      fault = { what, left: times };
    },
    behave() {
      fault = undefined;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      if (server.listening) await once(server, "close");
    },
  };
}

async function receive(incoming: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return {
    method: incoming.method ?? "",
    target: incoming.url ?? "",
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    body: Buffer.concat(chunks).toString("utf8"),
  };
}

function misbehaveWith(
  fault: Exclude<Fault, { kind: "reset_before" }>,
  request: Received,
  write: (() => string) | undefined,
  socket: Socket,
  outgoing: ServerResponse,
): void {
  switch (fault.kind) {
    case "status":
      outgoing.writeHead(fault.status, { "content-type": fault.type ?? "application/json" });
      outgoing.end(fault.body ?? "{}");
      break;
    case "hang":
      write?.();
      break;
    case "reset_after":
      write?.();
      socket.resetAndDestroy();
      break;
    case "reset_in_body":
      write?.();
      outgoing.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      outgoing.write('{"rows":[', () => socket.resetAndDestroy());
      break;
    case "huge":
      write?.();
      pour(fault, outgoing);
      break;
    case "drip":
      write?.();
      drip(fault.everyMs, outgoing);
      break;
    case "bomb":
      outgoing.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      outgoing.end(gzipSync(Buffer.alloc(fault.bytes)));
      break;
    case "redirect":
      write?.();
      outgoing.writeHead(fault.status, { location: fault.to });
      outgoing.end();
      break;
    case "content":
      write?.();
      outgoing.writeHead(fault.status ?? 200, fault.type === undefined ? {} : { "content-type": fault.type });
      outgoing.end(fault.body);
      break;
    case "garbage":
      write?.();
      socket.end("SSH-2.0-nothing-to-see-here\r\n\r\n");
      break;
    case "echo":
      json(outgoing, 200, JSON.stringify(request));
      break;
  }
}

/** Writes until it is done or the reader is gone, never holding more than a chunk. */
function pour(fault: Extract<Fault, { kind: "huge" }>, outgoing: ServerResponse): void {
  outgoing.writeHead(200, {
    "content-type": fault.type ?? "application/json",
    ...(fault.declared && { "content-length": String(fault.bytes) }),
  });
  let left = fault.bytes;
  const chunk = Buffer.alloc(64 * 1024, "a");
  const next = (): void => {
    while (left > 0 && !outgoing.destroyed) {
      const part = chunk.subarray(0, Math.min(left, chunk.length));
      left -= part.length;
      if (!outgoing.write(part)) return void outgoing.once("drain", next);
    }
    outgoing.end();
  };
  next();
}

function drip(everyMs: number, outgoing: ServerResponse): void {
  outgoing.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => outgoing.write(" "), everyMs);
  outgoing.on("close", () => clearInterval(timer));
}

function servePage(outgoing: ServerResponse, page: Page): void {
  if (page.link !== undefined) outgoing.setHeader("link", page.link);
  json(outgoing, 200, JSON.stringify(page.body));
}

function json(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, { "content-type": "application/json" });
  outgoing.end(body);
}
