import { describe, expect, it } from "vitest";
import type { ChatModel } from "../../../src/agents/models/index.js";
import { createRuntime } from "../../../src/agents/runtime/index.js";
import type { AgentDefinition, AgentTool } from "../../../src/agents/spec/index.js";
import type { Tool } from "../../../src/agents/tools/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { agentDefinition, recordingTool, silentLogger } from "../../fixtures/agents.js";
import { createGateConversation } from "../../fixtures/gate-conversation.js";
import { createPuppetModel } from "../../fixtures/puppet-model.js";

const asks = (agent: string): AgentTool => ({
  type: "agent",
  name: `ask-${agent}`,
  agent,
  description: `Asks ${agent}`,
});
const plan = { cuotas: 3 };

function house(over: { readonly desdeHumano?: boolean; readonly takesPropuestas?: boolean } = {}) {
  const create = recordingTool("praxis_crear_record", { needsConfirmation: true, requiresApproval: true });
  const outer = createPuppetModel();
  const inner = createPuppetModel();
  const agents: Record<string, AgentDefinition> = {
    outer: agentDefinition("outer", { tools: [asks("inner")] }),
    inner: agentDefinition("inner", { tools: [asks("inner")] }),
  };
  const tools: Record<string, Tool[]> = { outer: [], inner: [create] };
  const models: Record<string, ChatModel> = { outer, inner };
  const runtime = createRuntime({
    agentOf: (name) => agents[name],
    toolsOf: (name) => tools[name],
    modelOf: (name) => models[name],
    locale: "es-AR",
    limits: { depth: 3 },
    logger: silentLogger,
    now: () => 0,
  });
  return { outer, inner, create, tools, talk: createGateConversation({ runtime, agent: "outer", ...over }) };
}

describe("an agent as a tool", () => {
  it("answers a query of its own, without the conversation's history or its notes", async () => {
    const { outer, inner, talk } = house();
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "what is 1+1" } }] }, { text: "It is 2." }]);
    inner.plays([{ text: "2" }]);
    const result = await talk.say("sum");
    expect(result.answer).toBe("It is 2.");
    expect(inner.requests[0]?.messages).toEqual([{ role: "user", content: "what is 1+1" }]);
    expect(inner.requests[0]?.notes).toEqual([]);
    expect(outer.requests[1]?.messages.at(-1)?.content).toBe("2");
  });

  it("is no person: “si” as its query confirms nothing", async () => {
    const { outer, inner, create, talk } = house();
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "open" } }] }, { text: "Waiting." }]);
    inner.plays([{ calls: [{ tool: "praxis_crear_record", args: plan }] }, { text: "Proposed." }]);
    await talk.say("open a plan");
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "si" } }] }, { text: "Done!" }]);
    inner.plays([{ calls: [{ tool: "praxis_crear_record", args: plan }] }, { text: "Done!" }]);
    const second = await talk.say("hmm");
    expect(create.calls).toEqual([]);
    expect(second.notice).toContain("cuotas: 3");
  });

  it("proposes to the person in whose turn it runs, and the yes runs the call with its own tool", async () => {
    const { outer, inner, create, talk } = house();
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "open" } }] }, { text: "All done!" }]);
    inner.plays([{ calls: [{ tool: "praxis_crear_record", args: plan }] }, { text: "I recorded it." }]);
    const first = await talk.say("open a plan");
    expect(first.pending).toBeDefined();
    expect(create.calls).toEqual([]);
    expect(JSON.parse(outer.requests[1]?.messages.at(-1)?.content ?? "")).toMatchObject({
      answer: "I recorded it.",
      runtime: { waits: "praxis_crear_record" },
    });
    expect(first.calls.map(({ tool, outcome, via }) => [tool, outcome, via])).toEqual([
      ["praxis_crear_record", "waits", ["inner"]],
      ["ask_inner", "ok", undefined],
    ]);
    outer.plays([{ text: "Done." }]);
    await talk.say("dale");
    expect(create.calls.map((call) => call.args)).toEqual([plan]);
  });

  it("may use the person's yes, once", async () => {
    const { outer, inner, create, talk } = house();
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "open" } }] }, { text: "Waiting." }]);
    inner.plays([{ calls: [{ tool: "praxis_crear_record", args: plan }] }, { text: "Proposed." }]);
    await talk.say("open a plan");
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "go on" } }] }, { text: "Done." }]);
    inner.plays([{ calls: [{ tool: "praxis_crear_record", args: plan }] }, { text: "Done." }]);
    const second = await talk.say("dale");
    expect(create.calls).toHaveLength(1);
    expect(second.calls.map((call) => call.outcome)).toEqual(["executed", "repeat", "ok"]);
  });

  it("is refused a proposal where no person wrote the outermost query", async () => {
    const { outer, inner, talk } = house({ desdeHumano: false });
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "open" } }] }, { text: "Could not." }]);
    inner.plays([{ calls: [{ tool: "praxis_crear_record", args: plan }] }, { text: "Nobody to ask." }]);
    const result = await talk.say("scheduled");
    expect([result.pending, result.calls[0]?.code]).toEqual([undefined, "nobody"]);
  });

  it("goes as deep as it may, and is told when it may not", async () => {
    const { outer, inner, talk } = house();
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "0" } }] }, { text: "Enough." }]);
    inner.plays((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "Back." }
        : { calls: [{ tool: "ask_inner", args: { query: "deeper" } }] },
    );
    const result = await talk.say("dig");
    expect(result.calls.map(({ outcome, via }) => [outcome, via?.length ?? 0])).toEqual([
      ["refused", 2],
      ["ok", 1],
      ["ok", 0],
    ]);
  });

  it("that fails is an error to the agent that asked, and not the end of the turn", async () => {
    const { outer, inner, talk } = house();
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "x" } }] }, { text: "It is away." }]);
    inner.plays([{ error: new DaleError("model_failed", "The model endpoint answered 500.") }]);
    const result = await talk.say("ask");
    expect([result.answer, result.calls[0]?.code]).toEqual(["It is away.", "model_failed"]);
  });

  it("names the agents that a propuesta came through", async () => {
    const { outer, inner, talk, tools } = house({ takesPropuestas: true });
    tools.inner?.push(
      recordingTool("erp_crear", { kind: "api", proposes: { tipo: "api", destino: "erp", operacion: "crear" } }),
    );
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "x" } }] }, { text: "Proposed." }]);
    inner.plays([{ calls: [{ tool: "erp_crear", args: { a: 1 } }] }, { text: "Proposed." }]);
    const result = await talk.say("order");
    expect(result.propuestas).toEqual([
      { tool: "erp_crear", tipo: "api", destino: "erp", operacion: "crear", argumentos: { a: 1 }, via: ["inner"] },
    ]);
  });
});
