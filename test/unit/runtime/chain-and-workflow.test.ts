import { describe, expect, it } from "vitest";
import { createRuntime, type RunRequest } from "../../../src/agents/runtime/index.js";
import type {
  AgentDefinition,
  ChainDefinition,
  ChainLink,
  WorkflowDefinition,
  WorkflowStep,
} from "../../../src/agents/spec/index.js";
import type { Tool } from "../../../src/agents/tools/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { agentDefinition, recordingTool, silentLogger } from "../../fixtures/agents.js";
import { createPuppetModel, type PuppetModel } from "../../fixtures/puppet-model.js";

interface World {
  readonly agents: Readonly<Record<string, Partial<AgentDefinition>>>;
  readonly tools?: Readonly<Record<string, readonly Tool[]>>;
  readonly workflow?: Partial<WorkflowDefinition>;
  readonly workflowTools?: readonly Tool[];
}

function world({ agents, tools = {}, workflow = {}, workflowTools = [] }: World) {
  const definitions = new Map(Object.entries(agents).map(([name, over]) => [name, agentDefinition(name, over)]));
  const models = new Map<string, PuppetModel>(
    [...definitions.keys()].map((name) => [name, createPuppetModel(() => ({ text: `${name} says.` }))]),
  );
  const proposed: string[] = [];
  const runtime = createRuntime({
    agentOf: (name) => definitions.get(name),
    toolsOf: (name) => tools[name] ?? [],
    modelOf: (name) => models.get(name),
    workflowOf: (name) => (name === "w" ? workflowDefinition(workflow) : undefined),
    workflowToolsOf: () => workflowTools,
    locale: "en",
    limits: { depth: 3 },
    logger: silentLogger,
    now: () => 0,
  });
  const request = (over: Partial<RunRequest> = {}): RunRequest => ({
    query: "si",
    session: "api:a:1",
    turn: "t-1",
    history: [],
    gate: {
      resume: "runtime",
      async propose(call) {
        proposed.push(call.tool);
        return { kind: "refused", reason: "nobody" };
      },
      consume: () => Promise.resolve({ kind: "refused" }),
      settle: () => Promise.resolve(),
    },
    takesPropuestas: false,
    signal: new AbortController().signal,
    ...over,
  });
  const model = (name: string): PuppetModel => {
    const found = models.get(name);
    if (found === undefined) throw new Error(`no model ${name}`);
    return found;
  };
  return { runtime, request, model, proposed };
}

function workflowDefinition(over: Partial<WorkflowDefinition>): WorkflowDefinition {
  return {
    name: "w",
    version: "0.1.0",
    file: "w.workflow.yaml",
    description: "",
    triggers: [{ kind: "api" }],
    timeoutMs: 5_000,
    tools: [],
    steps: [],
    ...over,
  };
}

const link = (agent: string, over: Partial<ChainLink> = {}): ChainLink => ({
  agent,
  input: "{{ output.answer }}",
  default: false,
  onError: "stop",
  ...over,
});
const chain = (onComplete: readonly ChainLink[], mode: ChainDefinition["mode"] = "sequential"): ChainDefinition => ({
  mode,
  onComplete,
});
const scored = {
  outputSchema: { type: "object", properties: { score: { type: "integer" } } },
};
const query = (model: PuppetModel) => model.requests[0]?.messages.at(-1)?.content;

describe("a chain", () => {
  it("runs the agents whose condition holds, and leaves the answer as it is", async () => {
    const links = [
      link("mail", { when: "{{ output.data.score > 7 }}", input: "Write to a lead of {{ output.data.score }}" }),
      link("cold", { when: "{{ output.data.score < 3 }}" }),
      link("log"),
      link("triage", { default: true }),
    ];
    const { runtime, request, model } = world({
      agents: { a: { ...scored, chain: chain(links) }, mail: {}, cold: {}, log: {}, triage: {} },
    });
    const answer = 'Good.\n```json\n{"score": 8}\n```';
    model("a").plays([{ text: answer }]);
    const result = await runtime.run("a", request());
    expect(result.answer).toBe(answer);
    expect(query(model("mail"))).toBe("Write to a lead of 8");
    expect(query(model("log"))).toBe(answer);
    expect(result.chain).toMatchObject({
      status: "completed",
      steps: [
        { name: "mail", status: "success", answer: "mail says." },
        { name: "cold", status: "skipped", reason: "condition_false" },
        { name: "log", status: "success" },
        { name: "triage", status: "skipped", reason: "condition_false" },
      ],
    });
  });

  it("runs the default only where no condition held; links without one do not count", async () => {
    const { runtime, request, model } = world({
      agents: {
        a: { chain: chain([link("mail", { when: "{{ false }}" }), link("log"), link("triage", { default: true })]) },
        mail: {},
        log: {},
        triage: {},
      },
    });
    const result = await runtime.run("a", request());
    expect(result.chain?.steps.map(({ name, status }) => [name, status])).toEqual([
      ["mail", "skipped"],
      ["log", "success"],
      ["triage", "success"],
    ]);
    expect(model("mail").requests).toEqual([]);
  });

  it("fails a link whose condition names what is not there, instead of passing it over", async () => {
    const { runtime, request } = world({
      agents: {
        a: { chain: chain([link("mail", { when: "{{ output.data.scor > 7 }}" }), link("log")]) },
        mail: {},
        log: {},
      },
    });
    const result = await runtime.run("a", request());
    expect(result.answer).toBe("a says.");
    expect(result.chain).toMatchObject({
      status: "failed",
      steps: [
        { name: "mail", status: "error", reason: "template" },
        { name: "log", status: "skipped", reason: "upstream_stopped" },
      ],
    });
  });

  it("goes on after a failure where it may, and tries again as often as it says", async () => {
    const retry = { maxAttempts: 3, backoff: "fixed", initialDelayMs: 0 } as const;
    const links = [link("mail", { retry, onError: "continue" }), link("log", { input: "{{ output.answer }}" })];
    const { runtime, request, model } = world({ agents: { a: { chain: chain(links) }, mail: {}, log: {} } });
    model("mail").plays(() => ({ error: new DaleError("model_failed", "The model endpoint answered 500.") }));
    const result = await runtime.run("a", request());
    expect(model("mail").requests).toHaveLength(3);
    expect(result.chain).toMatchObject({
      status: "partial",
      steps: [
        { name: "mail", status: "error", reason: "model_failed" },
        { name: "log", status: "success" },
      ],
    });
  });

  it("stops a link that takes too long", async () => {
    const { runtime, request, model } = world({
      agents: { a: { chain: chain([link("mail", { timeoutMs: 20, onError: "continue" })]) }, mail: {} },
    });
    model("mail").plays(
      (asked) =>
        new Promise((_, reject) => asked.signal.addEventListener("abort", () => reject(asked.signal.reason as Error))),
    );
    const result = await runtime.run("a", request());
    expect(result.chain?.steps).toMatchObject([{ status: "error", reason: "turn_timeout" }]);
  });

  it("shows later links what earlier ones gave, in order", async () => {
    const links = [link("mail"), link("log", { input: "{{ steps.mail.output.answer }}|{{ trigger.query }}" })];
    const { runtime, request, model } = world({ agents: { a: { chain: chain(links) }, mail: {}, log: {} } });
    await runtime.run("a", request());
    expect(query(model("log"))).toBe("mail says.|si");
  });

  it("runs links at the same time in parallel mode, and the default after them", async () => {
    const order: string[] = [];
    const links = [link("slow"), link("fast"), link("triage", { default: true })];
    const { runtime, request, model } = world({
      agents: { a: { chain: chain(links, "parallel") }, slow: {}, fast: {}, triage: {} },
    });
    for (const [name, ms] of [
      ["slow", 30],
      ["fast", 0],
      ["triage", 0],
    ] as const) {
      model(name).plays(async () => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        order.push(name);
        return { text: name };
      });
    }
    await runtime.run("a", request());
    expect(order).toEqual(["fast", "slow", "triage"]);
  });

  it("follows the chains of its links, down to the limit", async () => {
    const { runtime, request } = world({
      agents: {
        a: { chain: chain([link("b")]) },
        b: { chain: chain([link("c")]) },
        c: { chain: chain([link("d")]) },
        d: {},
      },
    });
    const result = await runtime.run("a", request());
    expect(result.chain?.steps.map(({ name, status, reason, via }) => [name, status, reason, via])).toEqual([
      ["b", "success", undefined, undefined],
      ["c", "success", undefined, ["b"]],
      ["d", "skipped", "max_depth", ["b", "c"]],
    ]);
  });

  it("is no person: a link whose query is “si” confirms nothing, and proposes to nobody in a run without one", async () => {
    const gated = recordingTool("praxis_crear_record", { needsConfirmation: true });
    const { runtime, request, model, proposed } = world({
      agents: { a: { chain: chain([link("b", { input: "si" })]) }, b: {} },
      tools: { b: [gated] },
    });
    model("b").plays([{ calls: [{ tool: "praxis_crear_record", args: {} }] }, { text: "Done!" }]);
    const result = await runtime.run("a", request({ desdeHumano: false }));
    expect([gated.calls, proposed]).toEqual([[], []]);
    expect(result.calls).toMatchObject([{ outcome: "refused", code: "nobody", via: ["b"] }]);
  });
});

const agentStep = (name: string, over: Partial<Extract<WorkflowStep, { kind: "agent" }>> = {}): WorkflowStep => ({
  kind: "agent",
  name,
  agent: name,
  input: "{{ trigger.query }}",
  onError: "stop",
  ...over,
});
const toolStep = (name: string, over: Partial<Extract<WorkflowStep, { kind: "tool" }>> = {}): WorkflowStep => ({
  kind: "tool",
  name,
  tool: "t",
  arguments: {},
  onError: "stop",
  ...over,
});

describe("a workflow", () => {
  it("runs its steps in order, each with what the earlier ones gave", async () => {
    const tool = recordingTool("t", { answer: () => ({ ok: true, content: '{"rows":[{"id":7}]}' }) });
    const steps = [
      toolStep("find", { arguments: { q: "{{ trigger.query }}", limit: 5, deep: ["{{ trigger.query | upper }}"] } }),
      agentStep("b", { input: "Row {{ steps.find.output.data.rows | dump }}" }),
      agentStep("c", { when: "{{ steps.find.output.data.missing.field > 1 }}" }),
    ];
    const { runtime, request, model } = world({ agents: { b: {}, c: {} }, workflow: { steps }, workflowTools: [tool] });
    const result = await runtime.runWorkflow("w", request({ query: "abc" }));
    expect(tool.calls.map((call) => call.args)).toEqual([{ q: "abc", limit: 5, deep: ["ABC"] }]);
    expect(query(model("b"))).toBe('Row [{"id":7}]');
    expect(result.answer).toBe("b says.");
    expect(result.workflow).toMatchObject({
      status: "completed",
      steps: [
        { name: "find", status: "success" },
        { name: "b", status: "success", answer: "b says." },
        { name: "c", status: "skipped", reason: "condition_false" },
      ],
    });
  });

  it("gives an argument that is one expression the value itself", async () => {
    const first = recordingTool("t", { answer: () => ({ ok: true, content: '{"total":3}' }) });
    const steps = [toolStep("find"), toolStep("again", { arguments: { total: "{{ steps.find.output.data.total }}" } })];
    const { runtime, request } = world({ agents: {}, workflow: { steps }, workflowTools: [first] });
    await runtime.runWorkflow("w", request());
    expect(first.calls[1]?.args).toEqual({ total: 3 });
  });

  it("stops at a failure, unless the step says otherwise", async () => {
    const failing = recordingTool("t", {
      answer: () => ({ ok: false, code: "http_404", content: "no", uncertain: false }),
    });
    const steps = [toolStep("one", { onError: "continue" }), toolStep("two"), agentStep("b")];
    const { runtime, request, model } = world({ agents: { b: {} }, workflow: { steps }, workflowTools: [failing] });
    const result = await runtime.runWorkflow("w", request());
    expect(model("b").requests).toEqual([]);
    expect(result.workflow).toMatchObject({
      status: "failed",
      steps: [
        { name: "one", status: "error", reason: "http_404" },
        { name: "two", status: "error" },
        { name: "b", status: "skipped", reason: "upstream_stopped" },
      ],
    });
  });

  it("tries a step again with the same idempotency key, but never a write that may have been made", async () => {
    const retry = { maxAttempts: 3, backoff: "exponential", initialDelayMs: 0 } as const;
    const flaky = recordingTool("t", {
      answer: () => ({ ok: false, code: "http_503", content: "no", uncertain: false }),
    });
    const lost = recordingTool("w", {
      requiresApproval: true,
      answer: () => ({ ok: false, code: "timeout", content: "no", uncertain: true }),
    });
    const steps = [toolStep("one", { retry, onError: "continue" }), toolStep("two", { tool: "w", retry })];
    const { runtime, request } = world({ agents: {}, workflow: { steps }, workflowTools: [flaky, lost] });
    await runtime.runWorkflow("w", request());
    expect(flaky.calls).toHaveLength(3);
    expect(new Set(flaky.calls.map((call) => call.context.idempotencyKey)).size).toBe(1);
    expect(lost.calls).toHaveLength(1);
  });

  it("is never run in a person's name", async () => {
    const gated = recordingTool("praxis_crear_record", { needsConfirmation: true });
    const { runtime, request, model, proposed } = world({
      agents: { b: {} },
      tools: { b: [gated] },
      workflow: { steps: [agentStep("b")] },
    });
    model("b").plays([{ calls: [{ tool: "praxis_crear_record", args: {} }] }, { text: "Done!" }]);
    const result = await runtime.runWorkflow("w", request({ desdeHumano: true, query: "si" }));
    expect([gated.calls, proposed, result.calls[0]?.code]).toEqual([[], [], "nobody"]);
  });

  it("ends in time", async () => {
    const { runtime, request, model } = world({
      agents: { b: {} },
      workflow: { timeoutMs: 20, steps: [agentStep("b")] },
    });
    model("b").plays(
      (asked) =>
        new Promise((_, reject) => asked.signal.addEventListener("abort", () => reject(asked.signal.reason as Error))),
    );
    await expect(runtime.runWorkflow("w", request())).rejects.toMatchObject({ code: "turn_timeout" });
  });

  it("that is not loaded is refused", async () => {
    const { runtime, request } = world({ agents: {} });
    await expect(runtime.runWorkflow("x", request())).rejects.toMatchObject({ code: "agent_unknown" });
  });
});
