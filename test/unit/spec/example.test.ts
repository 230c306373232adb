import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { loadAgents, loadConnections } from "../../../src/agents/spec/index.js";

const place = (name: string) => fileURLToPath(new URL(`../../../examples/cobranzas/${name}`, import.meta.url));

it("loads the collections example without a problem: one action runs at once, the other waits", async () => {
  const { connections, problems } = await loadConnections(place("connections.yaml"), {});
  expect(problems).toEqual([]);
  expect(connections.get("praxis_main")?.baseUrl).toBe("http://127.0.0.1:4042");
  const loaded = await loadAgents({ agents: place("agents"), integrations: place("integrations"), connections });
  expect(loaded.problems).toEqual([]);
  const agent = loaded.agents.get("cobranzas");
  expect(agent?.model.primary).toMatchObject({ provider: "scripted", script: place("agents/cobranzas.script.yaml") });
  expect(agent?.tools).toMatchObject([{ actions: ["buscar_records", "crear_record"], confirm: ["crear_record"] }]);
  const crear = loaded.manifests.get("praxis")?.actions.find(({ name }) => name === "crear_record");
  expect(crear).toMatchObject({ writes: true, idempotencyHeader: "Idempotency-Key", request: { method: "POST" } });
  // The story's notice names the call by its technical name alone.
  expect(crear).not.toHaveProperty("title");
});
