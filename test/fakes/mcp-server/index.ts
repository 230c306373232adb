import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/**
 * A tenant's MCP server: the official SDK over streamable HTTP, with sessions. It lists one tool, `buscar_ticket`, runs
 * whatever it is asked to, keeps what it was asked, and misbehaves when told to.
 */
export type McpFault =
  /** Instead of the protocol, for every request. */
  | { readonly kind: "status"; readonly status: number; readonly body?: string }
  | { readonly kind: "redirect"; readonly status: number; readonly to: string }
  | { readonly kind: "content"; readonly type: string; readonly body: string }
  /** Only for `tools/call`. */
  | { readonly kind: "hang" }
  | { readonly kind: "reset" }
  /** An event stream that goes on for `bytes` and holds no answer. */
  | { readonly kind: "pour"; readonly bytes: number };

export interface FakeMcpServer {
  /** `http://127.0.0.1:<port>`; the endpoint is `/mcp`. */
  readonly url: string;
  readonly port: number;
  /** Names and arguments of the calls that ran. */
  readonly calls: readonly { readonly tool: string; readonly args: unknown }[];
  /** Head of every HTTP request. */
  readonly requests: readonly { readonly method: string; readonly headers: IncomingMessage["headers"] }[];
  /** Methods of the protocol that were asked for. */
  readonly methods: readonly string[];
  sessions(): number;
  /** What the tools answer from now on. */
  answer(result: CallToolResult | ((args: unknown) => CallToolResult)): void;
  misbehave(fault: McpFault): void;
  behave(): void;
  /** Loses every session, as a restarted server does. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

export interface FakeMcpOptions {
  /** Answers with plain JSON instead of event streams. Default false. */
  readonly json?: boolean;
  /** Status for a session that it does not know: 404 by the protocol, 400 of many servers. Default 404. */
  readonly unknownSession?: 400 | 404;
}

export async function startMcpServer({
  json = false,
  unknownSession = 404,
}: FakeMcpOptions = {}): Promise<FakeMcpServer> {
  const calls: { tool: string; args: unknown }[] = [];
  const requests: FakeMcpServer["requests"][number][] = [];
  const methods: string[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const sockets = new Set<Socket>();
  let fault: McpFault | undefined;
  let result: (args: unknown) => CallToolResult = () => ({ content: [{ type: "text", text: "ticket 7: open" }] });

  const connect = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: json,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = new Server({ name: "soporte", version: "1.0.0" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: "buscar_ticket", inputSchema: { type: "object", properties: { numero: { type: "string" } } } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      calls.push({ tool: params.name, args: params.arguments });
      return result(params.arguments);
    });
    await server.connect(transport);
    return transport;
  };

  const http = createServer(async (incoming, outgoing) => {
    requests.push({ method: incoming.method ?? "", headers: incoming.headers });
    const body = await bodyOf(incoming);
    const method = methodOf(body);
    if (method !== undefined) methods.push(method);
    if (fault && misbehaveWith(fault, method, incoming, outgoing)) return;
    const id = incoming.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (known === undefined && (id !== undefined || method !== "initialize")) {
      outgoing.writeHead(unknownSession, { "content-type": "application/json" });
      outgoing.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
      return;
    }
    await (known ?? (await connect())).handleRequest(incoming, outgoing, body);
  });
  http.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;

  const forget = async (): Promise<void> => {
    const open = [...sessions.values()];
    sessions.clear();
    await Promise.all(open.map((transport) => transport.close()));
  };

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    calls,
    requests,
    methods,
    sessions: () => sessions.size,
    answer(given) {
      result = typeof given === "function" ? given : () => given;
    },
    misbehave(what) {
      fault = what;
    },
    behave() {
      fault = undefined;
    },
    forget,
    async close() {
      await forget();
      for (const socket of sockets) socket.destroy();
      if (!http.listening) return;
      http.close();
      await once(http, "close");
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown);
}

function methodOf(body: unknown): string | undefined {
  return typeof body === "object" && body !== null && "method" in body && typeof body.method === "string"
    ? body.method
    : undefined;
}

/** @returns whether it answered, or left unanswered, in the protocol's place */
function misbehaveWith(
  fault: McpFault,
  method: string | undefined,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): boolean {
  switch (fault.kind) {
    case "status":
      outgoing.writeHead(fault.status, { "content-type": "application/json" });
      outgoing.end(fault.body ?? "{}");
      return true;
    case "redirect":
      outgoing.writeHead(fault.status, { location: fault.to });
      outgoing.end();
      return true;
    case "content":
      outgoing.writeHead(200, { "content-type": fault.type });
      outgoing.end(fault.body);
      return true;
    case "hang":
      return method === "tools/call";
    case "reset":
      if (method === "tools/call") incoming.socket.resetAndDestroy();
      return method === "tools/call";
    case "pour":
      if (method !== "tools/call") return false;
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      pour(fault.bytes, outgoing);
      return true;
  }
}

function pour(bytes: number, outgoing: ServerResponse): void {
  const line = Buffer.from(`: ${"x".repeat(64 * 1024)}\n\n`);
  let left = bytes;
  const next = (): void => {
    while (left > 0 && !outgoing.destroyed) {
      left -= line.length;
      if (!outgoing.write(line)) {
        outgoing.once("drain", next);
        return;
      }
    }
  };
  next();
}
