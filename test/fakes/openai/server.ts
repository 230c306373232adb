import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type WireRequest, wireProblem } from "./protocol.js";

/** What the model says next. A call's arguments are an object, or the raw text that a model would write. */
export interface FakeReply {
  readonly text?: string | null;
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown; readonly id?: string }[];
  readonly finish?: string;
  /** Milliseconds before it answers. */
  readonly delayMs?: number;
}

/** What goes wrong instead of a reply. */
export type FakeFault =
  | { readonly fault: "status"; readonly status: number; readonly retryAfter?: string; readonly body?: string }
  /** Accepts the request and never answers. */
  | { readonly fault: "hang" }
  /** Accepts the request and resets the connection. */
  | { readonly fault: "reset" }
  /** Half of an answer, then a reset. */
  | { readonly fault: "cut" }
  | { readonly fault: "broken_json" }
  | { readonly fault: "not_json" }
  | { readonly fault: "empty_choices" }
  | { readonly fault: "no_choices" }
  | { readonly fault: "redirect"; readonly to: string }
  | { readonly fault: "huge"; readonly bytes: number };

export type FakeAnswer = FakeReply | FakeFault;

export interface FakeRequest extends WireRequest {
  /** From 0. */
  readonly index: number;
  readonly authorization: string | undefined;
  readonly system: string;
  /** The newest text of the person. */
  readonly user: string;
  /** The newest message, if it is a tool's result. */
  readonly result: string | undefined;
}

export type FakePuppeteer = (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>;

export interface FakeOpenAi {
  /** What an agent's `endpoint` is to be. */
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** A list is played reply by reply, and then its last one for ever; a function is asked each time. */
  plays(script: readonly FakeAnswer[] | FakePuppeteer): void;
  stop(): Promise<void>;
}

export interface FakeOpenAiOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Refuses other keys with 401. Default: takes any. */
  readonly key?: string;
  readonly script?: readonly FakeAnswer[] | FakePuppeteer;
}

/**
 * An OpenAI-compatible chat-completions server over real HTTP, on loopback. It holds requests to the protocol (400), and
 * answers what a test decides.
 */
export async function startFakeOpenAi(options: FakeOpenAiOptions = {}): Promise<FakeOpenAi> {
  const requests: FakeRequest[] = [];
  const sockets = new Set<Socket>();
  let player = playerOf(options.script ?? [{ text: "Hello." }]);
  let calls = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
      return fail(response, 404, "there is nothing here");
    }
    if (options.key !== undefined && request.headers.authorization !== `Bearer ${options.key}`) {
      return fail(response, 401, "Incorrect API key provided");
    }
    const parsed = parse(body);
    const problem = wireProblem(parsed);
    if (problem !== undefined) return fail(response, 400, problem);
    const seen = seenRequest(parsed as WireRequest, requests.length, request.headers.authorization);
    requests.push(seen);
    const answer = await player(seen);
    await ("fault" in answer ? misbehave(answer, response) : reply(answer, seen, response));
  }

  async function reply(answer: FakeReply, request: FakeRequest, response: ServerResponse): Promise<void> {
    if (answer.delayMs !== undefined) await sleep(answer.delayMs);
    const toolCalls = (answer.calls ?? []).map((call) => ({
      id: call.id ?? `call_${calls++}`,
      type: "function",
      function: {
        name: call.name,
        arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
      },
    }));
    const message = {
      role: "assistant",
      content: answer.text ?? null,
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    };
    const finish = answer.finish ?? (toolCalls.length === 0 ? "stop" : "tool_calls");
    send(response, 200, {
      id: `chatcmpl-${request.index}`,
      object: "chat.completion",
      created: 1_700_000_000,
      model: request.model,
      choices: [{ index: 0, message, finish_reason: finish }],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else fail(response, 500, error instanceof Error ? error.message : "the puppet failed");
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    plays(script) {
      player = playerOf(script);
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function misbehave(fault: FakeFault, response: ServerResponse): Promise<void> {
  switch (fault.fault) {
    case "status":
      if (fault.retryAfter !== undefined) response.setHeader("retry-after", fault.retryAfter);
      if (fault.body === undefined) return fail(response, fault.status, "as the test wanted");
      response.writeHead(fault.status, { "content-type": "application/json" }).end(fault.body);
      return;
    case "hang":
      return;
    case "reset":
      response.socket?.resetAndDestroy();
      return;
    case "cut":
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"id":"chatcmpl-', () => response.socket?.resetAndDestroy());
      return;
    case "broken_json":
      response.writeHead(200, { "content-type": "application/json" }).end('{"choices": [{"message": {"content": "He');
      return;
    case "not_json":
      response.writeHead(200, { "content-type": "text/html" }).end("<html><body>Welcome to nginx!</body></html>");
      return;
    case "empty_choices":
      return send(response, 200, { id: "chatcmpl-0", object: "chat.completion", model: "m", choices: [] });
    case "no_choices":
      return send(response, 200, { object: "list", data: [] });
    case "redirect":
      response.writeHead(307, { location: fault.to }).end();
      return;
    case "huge":
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"choices":[{"message":{"content":"${"x".repeat(fault.bytes)}"}}]}`);
      return;
  }
}

function playerOf(script: readonly FakeAnswer[] | FakePuppeteer): FakePuppeteer {
  if (typeof script === "function") return script;
  let step = 0;
  return () => script[Math.min(step++, script.length - 1)] ?? { text: "Hello." };
}

function seenRequest(body: WireRequest, index: number, authorization: string | undefined): FakeRequest {
  const text = (content: unknown): string => {
    if (typeof content === "string") return content;
    if (!Array.isArray(content)) return "";
    return content.map((part: { text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join("");
  };
  const newest = body.messages.at(-1);
  return {
    ...body,
    index,
    authorization,
    system: body.messages
      .filter((message) => message.role === "system")
      .map((message) => text(message.content))
      .join("\n"),
    user: text(body.messages.findLast((message) => message.role === "user")?.content),
    result: newest?.role === "tool" ? text(newest.content) : undefined,
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fail(response: ServerResponse, status: number, message: string): void {
  send(response, status, { error: { message, type: "invalid_request_error", param: null, code: null } });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
