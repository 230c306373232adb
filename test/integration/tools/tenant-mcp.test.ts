import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startDeadline } from "../../../src/agents/tools/deadline.js";
import { createHttpClient } from "../../../src/agents/tools/http-client.js";
import { createNetwork, type Network, type NetworkOptions, type Tool } from "../../../src/agents/tools/index.js";
import { createMcpSessions } from "../../../src/agents/tools/mcp-sessions.js";
import { type FakeBackend, startBackend } from "../../fakes/backend/index.js";
import { type FakeMcpServer, startMcpServer } from "../../fakes/mcp-server/index.js";
import { callContext, firstOf, mcpTool, secret, toolsOf } from "../../fixtures/tools.js";

let server: FakeMcpServer;
let network: Network;
beforeEach(async () => {
  server = await startMcpServer();
  network = createNetwork({ egress: { allow: ["127.0.0.1"] } });
});
afterEach(async () => {
  await network.close();
  await server.close();
});

function tool(baseUrl = server.url, on = network, change = {}): Tool {
  return firstOf(toolsOf(mcpTool(change), { network: on, baseUrl }));
}

describe("a tool of a tenant's MCP server", () => {
  it("has the declared name and schema, closed, whatever the server lists", () => {
    const [first, second] = toolsOf(
      mcpTool({
        name: "mesa-de-ayuda",
        tools: [
          {
            name: "Buscar.Ticket",
            description: "",
            proposes: false,
            inputSchema: { type: "object", properties: { n: {} } },
          },
          {
            name: "cerrar",
            title: "Close",
            description: "",
            proposes: true,
            inputSchema: { type: "object", required: ["n"] },
          },
        ],
      }),
      { network, baseUrl: server.url },
    );
    expect(first).toMatchObject({ name: "mesa_de_ayuda_buscar_ticket", kind: "mcp", requiresApproval: false });
    expect(first?.parameters).toMatchObject({ additionalProperties: false });
    expect(second).toMatchObject({
      name: "mesa_de_ayuda_cerrar",
      title: "Close",
      requiresApproval: true,
      proposes: { tipo: "mcp", destino: "mesa-de-ayuda", operacion: "cerrar" },
    });
    expect(second?.check({})).toBe("n is missing");
    expect(server.requests).toHaveLength(0);
  });

  it("is called through the protocol, with its arguments and its credential", async () => {
    expect(await tool().call({ numero: "7" }, callContext())).toEqual({ ok: true, content: "ticket 7: open" });
    expect(server.calls).toEqual([{ tool: "buscar_ticket", args: { numero: "7" } }]);
    for (const { headers } of server.requests) expect(headers["x-api-key"]).toBe(secret);
    expect(server.methods).toEqual(["initialize", "notifications/initialized", "tools/call"]);
  });

  it("is called the same way where the server answers in plain JSON", async () => {
    const plain = await startMcpServer({ json: true });
    expect(await tool(plain.url).call({ numero: "7" }, callContext())).toEqual({ ok: true, content: "ticket 7: open" });
    await network.close();
    await plain.close();
  });

  it("shares one session between calls, and none between credentials", async () => {
    await Promise.all([1, 2, 3].map((n) => tool().call({ numero: String(n) }, callContext())));
    expect(server.sessions()).toBe(1);
    await tool().call({}, callContext({ connections: { main: { credential: "of-the-run" } } }));
    expect(server.sessions()).toBe(2);
    expect(server.methods.filter((method) => method === "initialize")).toHaveLength(2);
  });

  it("leaves no session on the server when the process stops", async () => {
    await tool().call({}, callContext());
    expect(server.sessions()).toBe(1);
    await network.close();
    expect(server.sessions()).toBe(0);
  });

  it.each([404, 400] as const)(
    "is called again in a new session when the server says %i to the old one",
    async (status) => {
      const forgetful = await startMcpServer({ unknownSession: status });
      await tool(forgetful.url).call({}, callContext());
      await forgetful.forget();
      expect(await tool(forgetful.url).call({ numero: "8" }, callContext())).toMatchObject({ ok: true });
      expect(forgetful.calls.map(({ args }) => args)).toEqual([{}, { numero: "8" }]);
      expect(forgetful.sessions()).toBe(1);
      await network.close();
      await forgetful.close();
    },
  );

  it("keeps its session when another call in it is stopped or refused", async () => {
    await tool().call({}, callContext());
    server.misbehave({ kind: "hang" });
    const stop = new AbortController();
    const stopped = tool().call({}, callContext({ signal: stop.signal }));
    while (server.methods.filter((method) => method === "tools/call").length < 2) await nextTick();
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ code: "turn_aborted" });
    server.misbehave({ kind: "status", status: 500 });
    await tool().call({}, callContext());
    server.behave();
    expect(await tool().call({}, callContext())).toMatchObject({ ok: true });
    expect(server.methods.filter((method) => method === "initialize")).toHaveLength(1);
  });

  it("hands on text only and names what it leaves out", async () => {
    server.answer({
      content: [
        { type: "text", text: "one" },
        { type: "image", data: "AAAA", mimeType: "image/png" },
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "resource", resource: { uri: "file:///a", text: "two" } },
        { type: "resource", resource: { uri: "file:///b", blob: "AAAA" } },
        { type: "resource_link", uri: "https://example.com", name: "x" },
      ],
    });
    const { content } = await tool().call({}, callContext());
    expect(content).toBe("one\n[image left out]\n[audio left out]\ntwo\n[resource left out]\n[resource_link left out]");
    server.answer({ content: [], structuredContent: { estado: "abierto" } });
    expect((await tool().call({}, callContext())).content).toBe('{"estado":"abierto"}');
    server.answer({ content: [] });
    expect((await tool().call({}, callContext())).content).toBe("Done; the answer is empty.");
  });

  it("is cut to what a model may be handed, and never shows the secret", async () => {
    server.answer({ content: [{ type: "text", text: `${secret} ${"x".repeat(30_000)}` }] });
    const { content } = await tool().call({}, callContext());
    expect(content).toMatch(/^\[redacted\] x+\n\[Cut here: 20000 of/);
    server.answer({ isError: true, content: [{ type: "text", text: `bad key ${secret}` }] });
    expect(await tool().call({}, callContext())).toEqual({
      ok: false,
      code: "tool_error",
      content: "bad key [redacted]",
      uncertain: false,
    });
  });

  it("reports an error of the protocol as the tool's, and keeps the session", async () => {
    server.answer(() => {
      throw new Error("no such ticket");
    });
    const result = await tool().call({}, callContext());
    expect(result).toMatchObject({ ok: false, code: "mcp_error", uncertain: false });
    expect(result.content).toContain("no such ticket");
    server.answer({ content: [{ type: "text", text: "fine" }] });
    expect((await tool().call({}, callContext())).content).toBe("fine");
    expect(server.methods.filter((method) => method === "initialize")).toHaveLength(1);
  });

  it("ends with the run that called it", async () => {
    server.misbehave({ kind: "hang" });
    const stop = new AbortController();
    const call = tool().call({}, callContext({ signal: stop.signal }));
    while (!server.methods.includes("tools/call")) await nextTick();
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: "turn_aborted" });
  });

  it("fails with the connection, uncertain only once it was called", async () => {
    server.misbehave({ kind: "reset" });
    expect(await tool().call({}, callContext())).toMatchObject({ ok: false, code: "reset", uncertain: true });
    await server.close();
    const fresh = createNetwork({ egress: { allow: ["127.0.0.1"] } });
    expect(await tool(server.url, fresh).call({}, callContext())).toMatchObject({
      code: "unreachable",
      uncertain: false,
    });
    await fresh.close();
  });

  it("stops reading an endless answer at the limit", async () => {
    server.misbehave({ kind: "pour", bytes: 50_000_000 });
    expect(await tool().call({}, callContext())).toMatchObject({ ok: false, code: "too_large", uncertain: true });
    server.behave();
    expect(await tool().call({}, callContext())).toMatchObject({ ok: true });
  });

  it.each([401, 403, 500])("says so when the server answers %i, without repeating its words", async (status) => {
    server.misbehave({ kind: "status", status, body: `{"key":"${secret}"}` });
    const result = await tool().call({}, callContext());
    expect(result).toMatchObject({ ok: false, code: `http_${status}`, uncertain: false });
    expect(result.content).not.toContain(secret);
  });

  it.each([
    ["text/html", "<html>"],
    ["application/json", "{"],
    ["application/json", '{"hello":1}'],
  ])("says so when the server speaks no MCP: %s %s", async (type, body) => {
    server.misbehave({ kind: "content", type, body });
    expect(await tool().call({}, callContext())).toMatchObject({ ok: false, code: "bad_answer", uncertain: false });
  });

  it("follows no redirect", async () => {
    for (const to of ["/mcp2", "http://169.254.169.254/mcp"]) {
      server.misbehave({ kind: "redirect", status: 307, to });
      expect(await tool().call({}, callContext())).toMatchObject({ ok: false, code: "redirected", uncertain: false });
    }
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ["an address that is not public", undefined],
    ["a name that leads to one", { resolve: async () => [{ address: "127.0.0.1", family: 4 }] }],
  ])("is not called at %s", async (_what, egress: NetworkOptions["egress"]) => {
    const guarded = createNetwork(egress ? { egress } : {});
    const baseUrl = egress ? `http://tenant.example:${server.port}` : server.url;
    expect(await tool(baseUrl, guarded).call({}, callContext())).toMatchObject({
      code: "address_refused",
      uncertain: false,
    });
    expect(server.requests).toHaveLength(0);
    await guarded.close();
  });

  it("is not called without its credential or its address", async () => {
    const bare = firstOf(toolsOf(mcpTool(), { network, baseUrl: server.url, credentials: {} }));
    expect(await bare.call({}, callContext())).toMatchObject({ code: "bad_connection", uncertain: false });
    expect(await tool("nowhere").call({}, callContext())).toMatchObject({ code: "bad_connection", uncertain: false });
  });

  it("keeps to its declared limit of calls", async () => {
    const limited = tool(server.url, network, { rateLimit: { count: 1, perMs: 60_000 } });
    expect(await limited.call({}, callContext())).toMatchObject({ ok: true });
    expect(await limited.call({}, callContext())).toMatchObject({ ok: false, code: "rate_limited", uncertain: false });
    expect(server.calls).toHaveLength(1);
  });

  it("that proposes calls nobody", async () => {
    const proposing = mcpTool({
      tools: [{ name: "cerrar_ticket", description: "", proposes: true, inputSchema: { type: "object" } }],
    });
    const result = await firstOf(toolsOf(proposing, { network, baseUrl: server.url })).call({}, callContext());
    expect(result).toMatchObject({ ok: false, code: "proposes_only", uncertain: false });
    expect(server.requests).toHaveLength(0);
  });
});

describe("sessions with MCP servers", () => {
  const target = (n: number) => ({ url: new URL(`${server.url}/mcp`), headers: { "x-api-key": `key-${n}` } });
  const http = () => createHttpClient({ egress: { allow: ["127.0.0.1"] } });

  async function use(sessions: ReturnType<typeof createMcpSessions>, n: number): Promise<void> {
    const deadline = startDeadline(5000, new AbortController().signal);
    await sessions.use(target(n), deadline, async ({ client }) => await client.ping());
    deadline.end();
  }

  it("end when nobody used them for a while", async () => {
    const sessions = createMcpSessions({ http: http(), idleMs: 20 });
    await use(sessions, 1);
    while (server.sessions() > 0) await nextTick();
    await use(sessions, 1);
    expect(server.methods.filter((method) => method === "initialize")).toHaveLength(2);
    await sessions.close();
  });

  it("are no more than they may be: the one unused the longest ends", async () => {
    const sessions = createMcpSessions({ http: http(), maxSessions: 2 });
    for (const n of [1, 2, 1, 3]) await use(sessions, n);
    while (server.sessions() > 2) await nextTick();
    await use(sessions, 1);
    expect(server.methods.filter((method) => method === "initialize")).toHaveLength(3);
    await sessions.close();
    expect(server.sessions()).toBe(0);
  });

  it("that could not be opened are tried again by the next call", async () => {
    const sessions = createMcpSessions({ http: http() });
    server.misbehave({ kind: "status", status: 503 });
    await expect(use(sessions, 1)).rejects.toThrow();
    server.behave();
    await use(sessions, 1);
    await sessions.close();
  });
});

describe("another server's address", () => {
  it("never sees a credential by way of the MCP server", async () => {
    const other: FakeBackend = await startBackend();
    server.misbehave({ kind: "redirect", status: 308, to: `${other.url}/mcp` });
    await tool().call({}, callContext());
    expect(other.connections()).toBe(0);
    await other.close();
  });
});

function nextTick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
