/**
 * A Bot API server over real HTTP, for tests: long polling with offsets and conflicts, a webhook pusher with secret and
 * retries, the checks that a message goes through, any update, and scripted faults of every method. It keeps what the
 * bots sent in memory and delivers it to nobody.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createBot, type FakeBot, type FakeBotOptions, type ServedBot } from "./bot.js";

export type { FakeBot } from "./bot.js";
export { type Fault, faults } from "./faults.js";
export type { Chat, Message, User } from "./objects.js";

export interface FakeBotApi {
  /** What `api_root` has to be. */
  readonly url: string;
  bot(options?: Partial<FakeBotOptions>): FakeBot;
  /** While true, nobody can connect, and open connections are cut. */
  unreachable(away: boolean): Promise<void>;
  close(): Promise<void>;
}

export async function startFakeBotApi(): Promise<FakeBotApi> {
  const bots = new Map<string, ServedBot>();
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

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, file, token, method = ""] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(request.url ?? "") ?? [];
    const body = await readAll(request);
    const bot = bots.get(decodeURIComponent(token ?? ""));
    if (!bot) {
      const known = token !== undefined && /^\d+:/.test(decodeURIComponent(token));
      return answer(response, known ? 401 : 404, error(known ? 401 : 404, known ? "Unauthorized" : "Not Found"));
    }
    const fault = bot.faults.take(file ? "file" : method);
    if (fault?.kind === "error") {
      const { code, description, parameters } = fault;
      return answer(response, code, { ...error(code, description), ...(parameters ? { parameters } : {}) });
    }
    if (fault && !fault.taken) {
      if (fault.kind === "reset") request.socket.resetAndDestroy();
      if (fault.kind === "garbage") response.writeHead(fault.status, { "content-type": "text/html" }).end(fault.body);
      return;
    }
    if (file) {
      const bytes = bot.fileAt(decodeURIComponent(method));
      if (bytes) response.writeHead(200, { "content-type": "application/octet-stream" }).end(bytes);
      else answer(response, 404, error(404, "Not Found"));
      return;
    }
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const payload: unknown = body.length > 0 ? JSON.parse(body.toString("utf8")) : {};
    const result = await bot.serve(method, payload as Record<string, unknown>, gone.signal);
    if (fault?.kind === "reset") return void request.socket.resetAndDestroy();
    if (fault?.kind === "hang") return;
    if (fault?.kind === "garbage") {
      return void response.writeHead(fault.status, { "content-type": "text/html" }).end(fault.body);
    }
    answer(response, result.ok ? 200 : result.error_code, result);
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  let away = false;
  return {
    url: `http://127.0.0.1:${port}`,
    bot(options = {}) {
      const number = bots.size + 1;
      const bot = createBot({ id: 5_000_000 + number, username: `dale_${number}_bot`, ...options });
      bots.set(bot.token, bot);
      return bot;
    },
    async unreachable(value) {
      if (value === away) return;
      away = value;
      await (value ? unlisten() : listen(port));
    },
    async close() {
      await Promise.all([...bots.values()].map((bot) => bot.stop()));
      if (!away) await unlisten();
    },
  };
}

const error = (error_code: number, description: string) => ({ ok: false, error_code, description });

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
