import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createModel, loadScript, type Script } from "../../../src/agents/models/index.js";
import { type AgentRuntime, createRuntime } from "../../../src/agents/runtime/index.js";
import { loadAgents, loadConnections } from "../../../src/agents/spec/index.js";
import { createNetwork, createToolset, type Network } from "../../../src/agents/tools/index.js";
import { silentLogger } from "../../fixtures/agents.js";
import { createGateConversation } from "../../fixtures/gate-conversation.js";

const example = (path: string) => fileURLToPath(new URL(`../../../examples/cobranzas/${path}`, import.meta.url));

let backend: ChildProcess;
let url: string;
let network: Network;
let runtime: AgentRuntime;

beforeAll(async () => {
  backend = spawn(process.execPath, [example("backend.mjs"), "0"], { stdio: ["ignore", "pipe", "inherit"] });
  if (backend.stdout === null) throw new Error("no stdout");
  [url] = (await once(createInterface({ input: backend.stdout }), "line")) as [string];
  const { connections } = await loadConnections(example("connections.yaml"), { PRAXIS_URL: url });
  const folders = { agents: example("agents"), integrations: example("integrations") };
  const { agents, manifests, problems } = await loadAgents({ ...folders, connections });
  expect(problems).toEqual([]);
  const agent = agents.get("cobranzas");
  if (agent?.model.primary.provider !== "scripted") throw new Error("the demo's agent is not there");
  const script = await loadScript(agent.model.primary.script);
  if (!script.ok) throw new Error("the demo's script is bad");
  const scripts = new Map<string, Script>([[agent.model.primary.script, script.value]]);
  network = createNetwork({ egress: { allow: [] } });
  const tools = createToolset(agent, { manifests, connections, network });
  const model = createModel(agent.model, {
    script: (path) => scripts.get(path),
    env: {},
    now: Date.now,
    logger: silentLogger,
  });
  runtime = createRuntime({
    agentOf: (name) => agents.get(name),
    toolsOf: () => tools,
    modelOf: () => model,
    locale: "es-AR",
    logger: silentLogger,
    now: Date.now,
  });
});

afterAll(async () => {
  await network?.close();
  backend.kill("SIGTERM");
  if (backend.exitCode === null) await once(backend, "exit");
});

const writes = async () => ((await (await fetch(`${url}/stats`)).json()) as { writes: number }).writes;

describe("the demo's own files", () => {
  it("play the story against the demo's own back end", async () => {
    const talk = createGateConversation({ runtime, agent: "cobranzas" });
    const first = await talk.say("how much does customer 42 owe, and open a payment plan for 3 instalments");
    expect(first.answer).toBe("Customer 42 owes $184,000.");
    expect(first.notice).toBe(
      "Para confirmar respondé SI. Voy a ejecutar: praxis_crear_record con entidad: cob_acuerdo, cuotas: 3, monto: 184000",
    );
    expect(await writes()).toBe(0);
    expect((await talk.say("dale")).answer).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(await writes()).toBe(1);
    const { rows } = (await (await fetch(`${url}/records/cob_acuerdo`)).json()) as { rows: unknown };
    expect(rows).toMatchObject([{ cuotas: 3, monto: 184000, valor_cuota: 61333 }]);
  });

  it("know the demo's customers, and say so of others", async () => {
    const talk = createGateConversation({ runtime, agent: "cobranzas" });
    expect((await talk.say("cuánto debe el cliente 15")).answer).toBe("El cliente 15 no debe nada.");
    expect((await talk.say("y el 99?")).answer).toContain("No encuentro al cliente 99");
    expect((await talk.say("y el 7?")).answer).toBe("El cliente 7 debe $52.300.");
  });
});
