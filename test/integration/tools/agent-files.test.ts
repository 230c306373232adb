import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadAgents, loadConnections } from "../../../src/agents/spec/index.js";
import {
  builtinNames,
  createNetwork,
  createToolset,
  type Network,
  type Tool,
} from "../../../src/agents/tools/index.js";
import { type FakeBackend, startBackend } from "../../fakes/backend/index.js";
import { type FakeMcpServer, startMcpServer } from "../../fakes/mcp-server/index.js";
import { type CobranzasBackend, startCobranzasBackend } from "../../fixtures/cobranzas-backend.js";
import { callContext } from "../../fixtures/tools.js";

let network: Network;
beforeEach(() => {
  network = createNetwork({ egress: { allow: ["127.0.0.1"] } });
});
afterEach(() => network.close());

/** The tools of every agent in a folder, by name. */
async function toolsIn(folder: string, agents: string, integrations: string, env: Record<string, string>) {
  const { connections, problems } = await loadConnections(join(folder, "connections.yaml"), env);
  const options = { agents: join(folder, agents), integrations: join(folder, integrations), connections };
  const loaded = await loadAgents({ ...options, builtins: builtinNames });
  expect([...problems, ...loaded.problems].filter(({ severity }) => severity === "error")).toEqual([]);
  const made = [...loaded.agents.values()].flatMap((agent) =>
    createToolset(agent, { manifests: loaded.manifests, connections, network }),
  );
  return (name: string): Tool => {
    const tool = made.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name} among ${made.map((one) => one.name).join(", ")}`);
    return tool;
  };
}

describe("the demo's agent", () => {
  let backend: CobranzasBackend;
  beforeEach(async () => {
    backend = await startCobranzasBackend();
  });
  afterEach(async () => {
    await backend.stop();
  });

  it("finds what a customer owes and writes a plan once, gated", async () => {
    const tool = await toolsIn("examples/cobranzas", "agents", "integrations", { PRAXIS_URL: backend.url });
    const debts = await tool("praxis_buscar_records").call({ entidad: "cob_deuda", cliente: "42" }, callContext());
    expect(JSON.parse(debts.content)).toMatchObject({ rows: [{ saldo: 184000 }], total: 1 });
    const write = tool("praxis_crear_record");
    expect(write.needsConfirmation).toBe(true);
    const plan = { entidad: "cob_acuerdo", cuotas: 3, monto: 184000 };
    expect(write.check(plan)).toBeUndefined();
    for (let time = 0; time < 2; time++) expect((await write.call(plan, callContext())).ok).toBe(true);
    expect(await backend.writes()).toBe(1);
  });
});

describe("an agent file with a tenant's own tools", () => {
  let folder: string;
  let backend: FakeBackend;
  let mcp: FakeMcpServer;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "dale-tools-"));
    backend = await startBackend();
    mcp = await startMcpServer();
    await writeFile(join(folder, "connections.yaml"), connectionsFile(backend.url, mcp.url));
    await writeFile(join(folder, "a.agent.yaml"), agentFile);
    await writeFile(join(folder, "paged.integration.yaml"), manifestFile);
  });
  afterEach(async () => {
    await network.close();
    await backend.close();
    await mcp.close();
    await rm(folder, { recursive: true });
  });

  it("reads through them and only proposes writes", async () => {
    const tool = await toolsIn(folder, ".", ".", {});
    expect((await tool("erp_cliente_ver_pedido").call({ id: "A 1" }, callContext())).ok).toBe(true);
    expect(backend.received[0]).toMatchObject({ target: "/pedidos/A%201", headers: { authorization: "Bearer t-1" } });
    expect(tool("erp_cliente_crear_pedido").proposes).toEqual({
      tipo: "api",
      destino: "erp-cliente",
      operacion: "crear_pedido",
    });
    expect(await tool("soporte_buscar_ticket").call({ numero: "7" }, callContext())).toMatchObject({ ok: true });
    expect(mcp.requests[0]?.headers["x-api-key"]).toBe("t-2");
    expect(tool("fecha_actual").check({})).toBeUndefined();
    const pages = await tool("paged_listar").call({}, callContext());
    expect(JSON.parse(pages.content)).toHaveLength(12);
  });
});

const connectionsFile = (erp: string, soporte: string) => `
erp_main: { base_url: "${erp}", credential: t-1 }
soporte_mcp: { base_url: "${soporte}", credential: t-2 }
`;

const manifestFile = `
apiVersion: astromesh/v1
kind: Integration
metadata: { name: paged, version: 0.1.0, description: Rows }
spec:
  auth: { scheme: none }
  actions:
    - name: listar
      description: Lists rows
      request: { method: GET, path: /pages/link }
      response: { select: data.rows }
      pagination: { style: link }
`;

const agentFile = `
apiVersion: astromesh/v1
kind: Agent
metadata: { name: a, version: 0.1.0 }
spec:
  identity: { description: An agent }
  model: { primary: { provider: openai_compat, model: m, endpoint: http://127.0.0.1:9000/v1 } }
  prompts: { system: You help. }
  tools:
    - { name: erp-cliente, type: api, connection: erp_main, auth: { scheme: bearer }, operations: [
        { name: ver_pedido, description: Reads an order, writes: false, parameters: { id: { type: string, required: true } }, request: { method: GET, path: "/pedidos/{id}" } },
        { name: crear_pedido, description: Creates an order, writes: true, mode: propose, parameters: { sku: { type: string, required: true } }, request: { method: POST, path: /pedidos, body: { sku: "{sku}" } } }] }
    - { name: soporte, type: mcp, connection: soporte_mcp, path: /mcp, auth: { scheme: header, header: X-Api-Key }, tools: [
        { name: buscar_ticket, description: Finds a ticket, writes: false, input_schema: { type: object, properties: { numero: { type: string } } } }] }
    - { name: paged, type: integration, connection: erp_main, actions: [listar] }
    - { name: fecha_actual, type: builtin }
`;
