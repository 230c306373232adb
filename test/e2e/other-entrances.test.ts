import { createServer, type Server } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeBot, type FakeBotApi, startFakeBotApi } from "../fakes/telegram-bot-api/index.js";
import { cobranzasAgent, praxisConnections, praxisManifest, storyModel, storyQuestion } from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";

let backend: FakeBackend;
let model: FakeOpenAi;
let telegram: FakeBotApi;
let bot: FakeBot;
let place: Installation;
let dale: Gateway;
let hook: Server;
const posted: { key: string | undefined; body: Record<string, unknown> }[] = [];

beforeAll(async () => {
  [backend, model, telegram] = await Promise.all([
    startBackend(),
    startFakeOpenAi({ script: storyModel }),
    startFakeBotApi(),
  ]);
  bot = telegram.bot();
  hook = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      posted.push({ key: request.headers["idempotency-key"]?.toString(), body: JSON.parse(body) });
      response.writeHead(posted.length === 1 ? 500 : 204).end();
    });
  });
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  const address = hook.address();
  const webhook = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/propuestas`;
  const erp = {
    name: "erp-cliente",
    type: "api",
    connection: "praxis_main",
    auth: { scheme: "bearer" },
    operations: [
      {
        name: "crear_pedido",
        description: "Creates an order",
        writes: true,
        mode: "propose",
        parameters: { sku: { type: "string", required: true } },
        request: { method: "POST", path: "/pedidos", body: { sku: "{sku}" } },
      },
    ],
  };
  const proposing = (name: string, more: Record<string, unknown>) => ({
    ...(cobranzasAgent(model.url, { tools: [erp], ...more }) as Record<string, unknown>),
    metadata: { name, version: "0.1.0" },
  });
  place = await install({
    config: {
      channels: {
        telegram: [{ name: "bot", agent: "hooked", token: bot.token, api_root: telegram.url }],
      },
    },
    agents: {
      cobranzas: cobranzasAgent(model.url),
      pedidos: proposing("pedidos", {}),
      hooked: proposing("hooked", { proposals: { webhook } }),
    },
    integrations: { praxis: praxisManifest },
    connections: {
      praxis_main: { ...(praxisConnections(backend.url).praxis_main as object), credential: "erp-secret" },
    },
    more: {
      "agents/informe.workflow.yaml": JSON.stringify({
        apiVersion: "astromesh/v1",
        kind: "Workflow",
        metadata: { name: "informe", version: "0.1.0" },
        spec: {
          steps: [{ name: "ask", agent: "cobranzas", input: "{{ trigger.query }}" }],
        },
      }),
    },
  });
  dale = await place.start();
});
afterAll(async () => {
  await dale.stop();
  hook.close();
  await Promise.all([backend.close(), model.stop(), telegram.close()]);
  await place.remove();
});

const post = async (path: string, body: unknown) => {
  const response = await fetch(`${place.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${place.token}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe("our MCP server", () => {
  const talk = async (client: Client) => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("cobranzas");
    const read = await client.callTool({ name: "cobranzas", arguments: { query: storyQuestion, session_id: "m" } });
    expect(read.content).toMatchObject([{ type: "text" }]);
    expect(JSON.stringify(read.content)).toContain("Customer 42 owes");
    expect(JSON.stringify(read.content)).not.toContain("Para confirmar");
    await client.callTool({ name: "cobranzas", arguments: { query: "si", session_id: "m" } });
    expect(backend.writes).toEqual([]);
    expect(await client.callTool({ name: "nobody", arguments: { query: "x" } })).toMatchObject({ isError: true });
  };

  it("lets a client ask an agent over HTTP, and confirm nothing", async () => {
    const client = new Client({ name: "test", version: "1" });
    const headers = { authorization: `Bearer ${place.token}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${place.url}/mcp`), { requestInit: { headers } }));
    await talk(client);
    await client.close();
  });

  it("does the same on stdio", async () => {
    const client = new Client({ name: "test", version: "1" });
    const args = ["dist/src/cli/main.js", "mcp", "--url", place.url, "--token", place.token];
    await client.connect(new StdioClientTransport({ command: process.execPath, args }));
    await talk(client);
    await client.close();
  });

  it("is closed without the token", async () => {
    expect((await fetch(`${place.url}/mcp`, { method: "POST", body: "{}" })).status).toBe(401);
  });
});

describe("a workflow", () => {
  it("runs its steps in nobody's name", async () => {
    const { status, body } = await post("/v1/workflows/informe/run", { query: storyQuestion });
    expect(status).toBe(200);
    expect(body.workflow).toMatchObject({ status: "completed", steps: [{ name: "ask", status: "success" }] });
    expect(String(body.answer)).toContain("Customer 42 owes");
    expect(String(body.answer)).not.toContain("Para confirmar");
    expect(backend.writes).toEqual([]);
  });
});

describe("a write on a tenant's own system", () => {
  const order = { calls: [{ name: "erp_cliente_crear_pedido", arguments: { sku: "A-1" } }] };

  it("comes back to the API's caller and is not made", async () => {
    model.plays((request) => (request.result === undefined ? order : { text: "Proposed." }));
    const { body } = await post("/v1/agents/pedidos/run", { query: "order A-1", session_id: "p" });
    expect(body.propuestas).toEqual([
      {
        tool: "erp_cliente_crear_pedido",
        tipo: "api",
        destino: "erp-cliente",
        operacion: "crear_pedido",
        argumentos: { sku: "A-1" },
      },
    ]);
    expect(backend.writes).toEqual([]);
  });

  it("goes to the agent's webhook from a chat, again when the webhook failed", async () => {
    model.plays((request) => (request.result === undefined ? order : { text: "Proposed." }));
    const { user, chat } = bot.person();
    bot.message(chat, { from: user, text: "order A-1" });
    await eventually(() => (posted.length >= 2 ? true : undefined), 20_000);
    expect(posted[1]).toEqual(posted[0]);
    expect(posted[0]?.body).toMatchObject({
      agent: "hooked",
      session: `telegram:bot:${chat.id}:${user.id}`,
      propuestas: [{ argumentos: { sku: "A-1" } }],
    });
    expect(posted[0]?.key).toBe(posted[0]?.body.turn);
    expect(backend.writes).toEqual([]);
  });
});
