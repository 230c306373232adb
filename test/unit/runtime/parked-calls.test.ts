import { describe, expect, it } from "vitest";
import { type CallGuard, createRuntime, type RunRequest } from "../../../src/agents/runtime/index.js";
import type { AgentDefinition, WorkflowDefinition } from "../../../src/agents/spec/index.js";
import type { Tool } from "../../../src/agents/tools/index.js";
import { agentDefinition, recordingTool, silentLogger } from "../../fixtures/agents.js";
import { createPuppetModel } from "../../fixtures/puppet-model.js";

const awaits = { code: "no_match", message: "This call was NOT made. A reviewer has to see it.", awaitsApproval: true };

function house(guard: CallGuard = async ({ tool }) => (tool === "erp_write" ? awaits : undefined)) {
  const write = recordingTool("erp_write", { requiresApproval: true });
  const outer = createPuppetModel();
  const inner = createPuppetModel();
  const asks = { type: "agent", name: "ask-inner", agent: "inner", description: "Asks inner" } as const;
  const agents: Record<string, AgentDefinition> = {
    outer: agentDefinition("outer", { tools: [asks] }),
    inner: agentDefinition("inner"),
  };
  const tools: Record<string, Tool[]> = { outer: [write], inner: [write] };
  const runtime = createRuntime({
    agentOf: (name) => agents[name],
    toolsOf: (name) => tools[name],
    modelOf: (name) => ({ outer, inner })[name],
    workflowOf: () => workflow,
    workflowToolsOf: () => [write],
    guard,
    locale: "es-AR",
    logger: silentLogger,
    now: () => 0,
  });
  const request: RunRequest = {
    query: "write it",
    session: "telegram:bot:1:1",
    turn: "t-1",
    history: [],
    gate: {
      resume: "runtime",
      propose: async () => ({ kind: "refused", reason: "nobody" }),
      consume: async () => ({ kind: "refused" }),
      settle: async () => {},
    },
    takesPropuestas: false,
    signal: new AbortController().signal,
  };
  const signal = request.signal;
  return { write, outer, inner, tools, runtime, request, signal };
}

const workflow: WorkflowDefinition = {
  name: "nightly",
  version: "0.1.0",
  file: "nightly.workflow.yaml",
  description: "",
  tools: [],
  steps: [{ kind: "tool", name: "write", tool: "erp_write", arguments: {}, onError: "stop" }],
  timeoutMs: 1000,
  triggers: [],
};

describe("a call that somebody else has to approve", () => {
  it("is parked, not made, and goes on record as waiting", async () => {
    const { outer, write, runtime, request } = house();
    outer.plays([{ raw: [{ tool: "erp_write", argumentsText: '{"b": 1.0, "a": 2}' }] }, { text: "Asked." }]);
    const { parked, calls, answer } = await runtime.run("outer", request);
    expect(write.calls).toEqual([]);
    expect(answer).toBe("Asked.");
    expect(parked).toMatchObject([{ agent: "outer", tool: "erp_write", canonical: '{"a":2,"b":1}' }]);
    expect(calls).toMatchObject([{ tool: "erp_write", outcome: "waits", code: "approval" }]);
    expect(JSON.parse(outer.requests[1]?.messages.at(-1)?.content ?? "")).toMatchObject({
      status: "waiting_for_approval",
      executed: false,
    });
  });

  it("is parked once, however often the model makes it", async () => {
    const { outer, runtime, request } = house();
    const call = { tool: "erp_write", args: { a: 1 } };
    outer.plays([{ calls: [call, call] }, { calls: [call] }, { text: "Asked." }]);
    const { parked, calls } = await runtime.run("outer", request);
    expect(parked).toHaveLength(1);
    expect(calls.map(({ outcome }) => outcome)).toEqual(["waits", "repeat", "repeat"]);
  });

  it("of an agent used as a tool is parked as that agent's, and told to the one that asked", async () => {
    const { outer, inner, runtime, request } = house();
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "write" } }] }, { text: "It is done!" }]);
    inner.plays([{ calls: [{ tool: "erp_write", args: {} }] }, { text: "I did it." }]);
    const { parked } = await runtime.run("outer", request);
    expect(parked).toMatchObject([{ agent: "inner", tool: "erp_write" }]);
    expect(JSON.parse(outer.requests[1]?.messages.at(-1)?.content ?? "")).toMatchObject({
      answer: "I did it.",
      runtime: { waits_for_approval: ["erp_write"] },
    });
  });

  it("cannot be an agent itself, nor a workflow's own step: nobody could make it later", async () => {
    const { outer, runtime, request } = house(async () => awaits);
    outer.plays([{ calls: [{ tool: "ask_inner", args: { query: "write" } }] }, { text: "No." }]);
    const { parked, calls } = await runtime.run("outer", request);
    expect(parked).toEqual([]);
    expect(calls).toMatchObject([{ outcome: "refused", code: "no_match" }]);
    const ran = await runtime.runWorkflow("nightly", request);
    expect(ran).toMatchObject({ parked: [], workflow: { status: "failed" } });
  });
});

describe("a stored call", () => {
  const stored = {
    id: "apr-1",
    agent: "outer",
    tool: "erp_write",
    args: '{"a":1}',
    consents: [{ by: "reviewer", ref: "apr-1", at: 5 }],
  } as const;
  const where = (signal: AbortSignal) => ({ session: "telegram:bot:1:1", signal });

  it("runs as it was kept, after the rules have seen whose yes it has", async () => {
    const seen: unknown[] = [];
    const { runtime, write, signal } = house(async (call) => void seen.push(call));
    expect(await runtime.perform(stored, where(signal))).toEqual({ status: "executed", content: '{"a":1}' });
    expect(seen).toMatchObject([{ tool: "erp_write", args: { a: 1 }, granted: false, consents: stored.consents }]);
    expect(write.calls).toMatchObject([{ args: { a: 1 }, context: { idempotencyKey: "apr-1", connections: {} } }]);
  });

  it("does not run when the rules refuse it, or cannot be asked", async () => {
    const refused = house();
    expect(await refused.runtime.perform(stored, where(refused.signal))).toMatchObject({
      status: "failed",
      code: "no_match",
      awaitsApproval: true,
    });
    const away = house(async () => {
      throw new Error("away");
    });
    expect(await away.runtime.perform(stored, where(away.signal))).toMatchObject({
      status: "failed",
      code: "rules_unavailable",
    });
    expect([...refused.write.calls, ...away.write.calls]).toEqual([]);
  });

  it("does not run when its tool is gone, its arguments do not fit any more, or the run is over", async () => {
    const { runtime, write, tools, signal } = house(async () => undefined);
    const gone = await runtime.perform({ ...stored, tool: "erp_other" }, where(signal));
    expect(gone).toMatchObject({ status: "failed", code: "tool_gone" });
    for (const args of ["{", "[]", '{"a":1,"a":2}']) {
      expect(await runtime.perform({ ...stored, args }, where(signal))).toMatchObject({ code: "bad_arguments" });
    }
    expect(await runtime.perform(stored, where(AbortSignal.abort()))).toMatchObject({ code: "aborted" });
    tools.outer = [{ ...write, check: () => "a is not wanted" }];
    expect(await runtime.perform(stored, where(signal))).toMatchObject({ code: "bad_arguments" });
    expect(write.calls).toEqual([]);
  });
});
