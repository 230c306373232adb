import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ActionDefinition, IntegrationManifest } from "../../../src/agents/spec/index.js";
import { createNetwork, createToolset, type Network, type Tool } from "../../../src/agents/tools/index.js";
import { type FakeBackend, startBackend } from "../../fakes/backend/index.js";

let backend: FakeBackend;
let network: Network;
beforeEach(async () => {
  backend = await startBackend();
  network = createNetwork();
});
afterEach(async () => {
  network.close();
  await backend.close();
});

describe("an integration's call", () => {
  it("sends arguments with their types", async () => {
    const result = await call(tool({}), { entidad: "cob_acuerdo", monto: 184000, cuotas: 3 });
    expect(result).toEqual({ ok: true, content: '{"id":"rec-1","ok":true}' });
    expect(backend.writes[0]?.target).toBe("/records");
    expect(JSON.parse(backend.writes[0]?.body ?? "")).toEqual({ entidad: "cob_acuerdo", monto: 184000, cuotas: 3 });
    expect(backend.writes[0]?.headers.authorization).toBe("Bearer s3cret-token");
  });
});

function call(of: Tool, args: Parameters<Tool["call"]>[0]) {
  return of.call(args, { signal: new AbortController().signal, idempotencyKey: "key-1", connections: {} });
}

function tool(change: Partial<ActionDefinition>): Tool {
  const action: ActionDefinition = {
    name: "crear_record",
    description: "Creates a record",
    parameters: [
      { name: "entidad", schema: { type: "string" }, required: true },
      { name: "monto", schema: { type: "number" }, required: false },
      { name: "cuotas", schema: { type: "integer" }, required: false },
    ],
    writes: true,
    request: {
      method: "POST",
      path: "/records",
      query: {},
      headers: {},
      body: { entidad: "{entidad}", monto: "{monto}", cuotas: "{cuotas}" },
    },
    allowSlash: [],
    ...change,
  };
  const manifest: IntegrationManifest = {
    name: "praxis",
    version: "1",
    description: "",
    file: "praxis.integration.yaml",
    auth: { scheme: "bearer", credential: "api_key" },
    timeoutMs: 2000,
    headers: {},
    actions: [action],
  };
  const [made] = createToolset(
    {
      tools: [
        {
          type: "integration",
          name: "praxis",
          manifest: "praxis",
          connection: "main",
          actions: [action.name],
          confirm: [],
        },
      ],
    },
    {
      manifests: new Map([["praxis", manifest]]),
      connections: new Map([
        ["main", { name: "main", baseUrl: backend.url, credentials: { api_key: "s3cret-token" } }],
      ]),
      network,
    },
  );
  if (made === undefined) throw new Error("no tool");
  return made;
}
