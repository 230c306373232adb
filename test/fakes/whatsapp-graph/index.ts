/**
 * Meta's Graph API for WhatsApp over real HTTP, for tests: apps with their numbers, the checks that a message goes
 * through, media with URLs that run out, webhook calls signed over their bytes, in batches and again and again, and
 * scripted faults of every call. It keeps what was sent in memory and delivers it to nobody.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { CallKind, Fault } from "./faults.js";
import { type Answer, createNumber, type FakeNumber, refuse, type ServedNumber } from "./number.js";
import { type Change, createPusher, type Push, type Pusher } from "./pusher.js";

export { type Fault, faults } from "./faults.js";
export type { FakeNumber, Person, SentMessage } from "./number.js";
export { callOf, encode, signatureOf } from "./pusher.js";

/** An app in Meta's console: one secret, one webhook, any number of numbers. */
export interface FakeApp {
  readonly secret: string;
  number(): FakeNumber;
  /** Types a webhook's URL and token into the console: it is asked to prove itself. @returns whether it is taken */
  subscribe(url: string, verifyToken: string): Promise<boolean>;
  /** Any change of a webhook call. */
  tells(change: Change): void;
  /** While true, updates pile up, and then go out in one call. */
  hold(held: boolean): void;
  /** Makes the last call that was confirmed once more. */
  redeliver(): Promise<number>;
  post: Pusher["post"];
  pushes(): readonly Push[];
  /** Updates that were not confirmed yet. */
  pending(): number;
}

export interface FakeGraph {
  /** What `graph_url` has to be. */
  readonly url: string;
  app(secret?: string): FakeApp;
  /** While true, nobody can connect, and open connections are cut. */
  unreachable(away: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface FakeGraphOptions {
  /** What stands for one second where it waits before it calls a webhook again. Default 20 ms. */
  readonly pushUnitMs?: number;
  /** Ms since 1970. Default Date.now. */
  readonly now?: () => number;
}

const business = "102290129340398";

export async function startFakeGraph(options: FakeGraphOptions = {}): Promise<FakeGraph> {
  const now = options.now ?? Date.now;
  const numbers: ServedNumber[] = [];
  const pushers: Pusher[] = [];
  let apps = 0;
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  const unlisten = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  function answerTo(kind: CallKind, number: ServedNumber, what: string, payload: Record<string, unknown>): Answer {
    if (kind === "send" || kind === "read") return number.post(payload);
    if (number.expired) return refuse(401, 190, "Error validating access token: Session has expired", 463);
    if (kind === "number") return { status: 200, body: { id: number.id } };
    if (kind === "media") return number.mediaOf(what, base()) ?? refuse(400, 100, "Unsupported get request", 33);
    const bytes = number.fileAt(what);
    return bytes ? { bytes } : { status: 404, body: { error: "URL has expired" } };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    const url = request.url ?? "";
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const number = numbers.find((one) => one.token === token);
    if (!number) return reply(response, refuse(401, 190, "Invalid OAuth access token - Cannot parse access token"));
    const payload = (body.length > 0 ? JSON.parse(body.toString("utf8")) : {}) as Record<string, unknown>;
    const found = callOfUrl(request.method ?? "", url, payload);
    if (!found) return reply(response, refuse(400, 2500, "Unknown path components"));
    const { kind, what, of } = found;
    if (of !== undefined && of !== number.id) return reply(response, refuse(400, 100, "Unsupported post request", 33));
    number.called(kind, payload);
    const fault = number.faults.take(kind);
    if (fault?.kind === "error") return misbehave(fault, request, response);
    if (fault && !fault.taken) return misbehave(fault, request, response);
    const answer = answerTo(kind, number, what, payload);
    if (fault) return misbehave(fault, request, response);
    if (kind === "send" && number.reports.beforeAnswer) await number.told();
    reply(response, answer);
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  const base = () => `http://127.0.0.1:${port}`;
  let away = false;

  return {
    url: `${base()}/v25.0`,
    app(secret = `app-secret-${++apps}-of-the-fake`) {
      const waiting: Change[] = [];
      let pusher: Pusher | undefined;
      const push = (change: Change) => {
        if (pusher) pusher.add(change);
        else waiting.push(change);
      };
      return {
        secret,
        number() {
          const told = async () => {
            while (pusher && pusher.pending() > 0) await sleep(5);
          };
          const number = createNumber({ index: numbers.length + 1, push, told, now });
          numbers.push(number);
          return number;
        },
        async subscribe(webhook, verifyToken) {
          const challenge = "1158201444";
          const query = new URLSearchParams({
            "hub.mode": "subscribe",
            "hub.challenge": challenge,
            "hub.verify_token": verifyToken,
          });
          const response = await fetch(`${webhook}?${query}`);
          if (response.status !== 200 || (await response.text()) !== challenge) return false;
          const next = createPusher(webhook, secret, business, options.pushUnitMs ?? 20);
          await pusher?.stop();
          pusher = next;
          pushers.push(next);
          for (const change of waiting.splice(0)) next.add(change);
          return true;
        },
        tells: push,
        hold: (held) => pusher?.hold(held),
        async redeliver() {
          // A call is read before it is confirmed: whoever has seen what it brought may come too early.
          await pusher?.idle();
          const last = pusher?.pushes.findLast(({ status }) => status === 200);
          if (!pusher || !last) throw new Error("no call was confirmed yet");
          return (await pusher.post(last.body)).status;
        },
        post(body, signature) {
          if (!pusher) throw new Error("the app has no webhook yet");
          return pusher.post(body, signature);
        },
        pushes: () => pusher?.pushes ?? [],
        pending: () => pusher?.pending() ?? waiting.length,
      };
    },
    async unreachable(value) {
      if (value === away) return;
      away = value;
      await (value ? unlisten() : listen(port));
    },
    async close() {
      await Promise.all(pushers.map((pusher) => pusher.stop()));
      if (!away) await unlisten();
    },
  };
}

function callOfUrl(
  method: string,
  url: string,
  payload: Readonly<Record<string, unknown>>,
): { readonly kind: CallKind; readonly what: string; readonly of?: string } | undefined {
  const [, messages] = /^\/v\d+\.\d+\/(\d+)\/messages$/.exec(url) ?? [];
  if (method === "POST" && messages !== undefined) {
    return { kind: payload.status === undefined ? "send" : "read", what: messages, of: messages };
  }
  if (method !== "GET") return undefined;
  if (url.startsWith("/whatsapp_business/attachments/")) return { kind: "file", what: url };
  const [, object, query] = /^\/v\d+\.\d+\/(\d+)(\?.*)?$/.exec(url) ?? [];
  if (object === undefined) return undefined;
  return query?.includes("fields=") ? { kind: "number", what: object, of: object } : { kind: "media", what: object };
}

function misbehave(fault: Fault, request: IncomingMessage, response: ServerResponse): void {
  switch (fault.kind) {
    case "error": {
      const { status, code, details = "", subcode, retryAfter } = fault;
      if (retryAfter !== undefined) response.setHeader("retry-after", String(retryAfter));
      reply(response, refuse(status, code, details, subcode));
      return;
    }
    case "garbage":
      return void response.writeHead(fault.status, { "content-type": "text/html" }).end(fault.body);
    case "hang":
      return;
    case "reset":
      return void request.socket.resetAndDestroy();
  }
}

function reply(response: ServerResponse, answer: Answer): void {
  if ("bytes" in answer) {
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(answer.bytes);
    return;
  }
  response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
