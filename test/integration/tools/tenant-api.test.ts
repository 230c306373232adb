import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNetwork, type Network, type NetworkOptions } from "../../../src/agents/tools/index.js";
import { type FakeBackend, startBackend } from "../../fakes/backend/index.js";
import { apiTool, callContext, firstOf, secret, toolsOf } from "../../fixtures/tools.js";

let backend: FakeBackend;
const networks: Network[] = [];
beforeEach(async () => {
  backend = await startBackend();
});
afterEach(async () => {
  for (const network of networks.splice(0)) await network.close();
  await backend.close();
});

function network(egress?: NetworkOptions["egress"]): Network {
  const made = createNetwork(egress ? { egress } : {});
  networks.push(made);
  return made;
}

function call(baseUrl: string, egress?: NetworkOptions["egress"]) {
  return firstOf(toolsOf(apiTool(), { network: network(egress), baseUrl })).call({}, callContext());
}

describe("a tenant's API", () => {
  it("is reached where the operator allows its host", async () => {
    for (const allow of ["127.0.0.1", `127.0.0.1:${backend.port}`, "127.0.0.0/8"]) {
      expect(await call(backend.url, { allow: [allow] }), allow).toEqual({ ok: true, content: '{"rows":[]}' });
    }
    expect(backend.received[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  it("is not reached when something else is allowed", async () => {
    for (const allow of ["127.0.0.2", `127.0.0.1:${backend.port + 1}`, "localhost", "10.0.0.0/8", "::1"]) {
      expect(await call(backend.url, { allow: [allow] }), allow).toMatchObject({ code: "address_refused" });
    }
    expect(backend.received).toHaveLength(0);
  });

  it.each([
    "http://127.0.0.1:{port}",
    "http://127.1:{port}",
    "http://2130706433:{port}",
    "http://0x7f.0.0.1:{port}",
    "http://0177.0.0.1:{port}",
    "http://0.0.0.0:{port}",
    "http://localhost:{port}",
    "http://localhost.:{port}",
    "http://[::1]:{port}",
    "http://[::ffff:127.0.0.1]:{port}",
    "http://[::ffff:7f00:1]:{port}",
    "http://[64:ff9b::127.0.0.1]:{port}",
    "http://[::]:{port}",
    "http://10.0.0.1",
    "http://169.254.169.254",
    "http://[fd00:ec2::254]",
    "http://①②⑦.⓪.⓪.①:{port}",
  ])("is not called at %s", async (template) => {
    const result = await call(template.replace("{port}", String(backend.port)));
    expect(result).toMatchObject({ ok: false, uncertain: false });
    expect(["address_refused", "unreachable"]).toContain(result.ok ? "" : result.code);
    expect(backend.connections()).toBe(0);
  });

  it("is not called at a public address by name when one of its addresses is not public", async () => {
    const resolve = async () => [
      { address: "93.184.215.14", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ];
    expect(await call(`http://tenant.example:${backend.port}`, { resolve })).toMatchObject({ code: "address_refused" });
    expect(backend.connections()).toBe(0);
  });

  it("is called at the very address that was judged, under its own name, after one resolution", async () => {
    const asked: string[] = [];
    // A name that changes its mind: the second answer would be another place.
    const resolve = async (hostname: string) => {
      asked.push(hostname);
      return [{ address: asked.length === 1 ? "127.0.0.1" : "169.254.169.254", family: 4 }];
    };
    const result = await call(`http://tenant.example:${backend.port}`, { resolve, allow: ["127.0.0.0/8"] });
    expect(result.ok).toBe(true);
    expect(asked).toEqual(["tenant.example"]);
    expect(backend.received[0]?.headers.host).toBe(`tenant.example:${backend.port}`);
  });

  it("judges anew whenever it connects anew", async () => {
    const answers = ["127.0.0.1", "10.0.0.7"];
    const resolve = async () => [{ address: answers.shift() ?? "10.0.0.7", family: 4 }];
    const shared = network({ resolve, allow: ["127.0.0.0/8"] });
    const tool = firstOf(toolsOf(apiTool(), { network: shared, baseUrl: `http://tenant.example:${backend.port}` }));
    expect((await tool.call({}, callContext())).ok).toBe(true);
    backend.misbehave({ kind: "reset_before" }, 1);
    expect(await tool.call({}, callContext())).toMatchObject({ ok: false, code: "address_refused", uncertain: false });
    expect(backend.connections()).toBe(1);
  });

  it("is not reached over a connection that an integration has open", async () => {
    const shared = network();
    const open = { path: "/x", method: "GET", query: {}, headers: {} } as const;
    const { actionTool, read } = await import("../../fixtures/tools.js");
    await actionTool(read("/x", { request: open }), { network: shared, baseUrl: backend.url }).call({}, callContext());
    const tenant = firstOf(toolsOf(apiTool(), { network: shared, baseUrl: backend.url }));
    expect(await tenant.call({}, callContext())).toMatchObject({ code: "address_refused" });
    expect(backend.received).toHaveLength(1);
  });

  it("is not followed anywhere by a redirect, not even to itself", async () => {
    for (const to of ["/elsewhere", "http://169.254.169.254/latest/meta-data", `${backend.url}/x`]) {
      backend.misbehave({ kind: "redirect", status: 302, to }, 1);
      expect(await call(backend.url, { allow: ["127.0.0.1"] })).toMatchObject({ ok: false, code: "redirected" });
    }
    expect(backend.received).toHaveLength(3);
  });

  it("answers in text of at most 5 MB", async () => {
    backend.misbehave({ kind: "huge", bytes: 6_000_000 });
    expect(await call(backend.url, { allow: ["127.0.0.1"] })).toMatchObject({ code: "too_large" });
    backend.misbehave({ kind: "content", type: "image/png", body: "x" });
    expect(await call(backend.url, { allow: ["127.0.0.1"] })).toMatchObject({ code: "not_text" });
  });

  it("gets its address from the run where the run brings one, and that is judged too", async () => {
    const tool = firstOf(toolsOf(apiTool(), { network: network(), baseUrl: "https://erp.example" }));
    const result = await tool.call(
      {},
      callContext({ connections: { main: { base_url: backend.url, credential: "x" } } }),
    );
    expect(result).toMatchObject({ ok: false, code: "address_refused" });
    expect(backend.connections()).toBe(0);
  });
});

describe("a tenant's write", () => {
  const proposing = apiTool({
    name: "crear_pedido",
    proposes: true,
    parameters: [{ name: "sku", schema: { type: "string" }, required: true }],
    request: { method: "POST", path: "/pedidos", query: {}, headers: {}, body: { sku: "{sku}" } },
  });

  it("is proposed and never made: it checks its arguments and calls nobody", async () => {
    const tool = firstOf(toolsOf(proposing, { network: network({ allow: ["127.0.0.1"] }), baseUrl: backend.url }));
    expect(tool).toMatchObject({
      name: "erp_cliente_crear_pedido",
      kind: "api",
      requiresApproval: true,
      needsConfirmation: false,
      proposes: { tipo: "api", destino: "erp-cliente", operacion: "crear_pedido" },
    });
    expect(tool.check({ sku: "A-1" })).toBeUndefined();
    expect(tool.check({ sku: 1 })).toBe("sku must be string");
    expect(tool.check({ sku: "A-1", approved: true })).toMatch(/^approved is not a parameter/);
    expect(await tool.call({ sku: "A-1" }, callContext())).toMatchObject({
      ok: false,
      code: "proposes_only",
      uncertain: false,
    });
    expect(backend.connections()).toBe(0);
  });
});
