import { describe, expect, it } from "vitest";
import { createRuntime, type RunLimits, type RunRequest } from "../../../src/agents/runtime/index.js";
import type { AgentDefinition } from "../../../src/agents/spec/index.js";
import type { Tool } from "../../../src/agents/tools/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { agentDefinition, recordingTool, silentLogger } from "../../fixtures/agents.js";
import { createPuppetModel, type Puppeteer, type PuppetReply } from "../../fixtures/puppet-model.js";

interface Setting {
  readonly script: readonly PuppetReply[] | Puppeteer;
  readonly tools?: readonly Tool[];
  readonly agent?: Partial<AgentDefinition>;
  readonly limits?: Partial<RunLimits>;
}

function setting({ script, tools = [], agent = {}, limits = {} }: Setting) {
  const model = createPuppetModel(script);
  const runtime = createRuntime({
    agentOf: (name) => (name === "a" ? agentDefinition("a", agent) : undefined),
    toolsOf: () => tools,
    modelOf: () => model,
    locale: "en",
    limits,
    logger: silentLogger,
    now: () => 0,
  });
  return { model, run: (over: Partial<RunRequest> = {}) => runtime.run("a", request(over)) };
}

function request(over: Partial<RunRequest> = {}): RunRequest {
  return {
    query: "hello",
    session: "telegram:bot:1:1",
    turn: "t-1",
    history: [],
    gate: {
      resume: "runtime",
      propose: () => Promise.resolve({ kind: "refused", reason: "nobody" }),
      consume: () => Promise.resolve({ kind: "refused" }),
      settle: () => Promise.resolve(),
    },
    takesPropuestas: false,
    signal: new AbortController().signal,
    ...over,
  };
}

const told = (model: ReturnType<typeof setting>["model"], at = -1) =>
  JSON.parse(model.requests.at(at)?.messages.at(-1)?.content ?? "null");

describe("a run", () => {
  it("answers with what the model says, and remembers query, calls and results", async () => {
    const search = recordingTool("praxis_buscar", { answer: () => ({ ok: true, content: "[42]" }) });
    const { run, model } = setting({
      tools: [search],
      script: [
        { text: "Let me look.", calls: [{ tool: "praxis_buscar", args: { q: "x" }, id: "c1" }] },
        { text: "42." },
      ],
    });
    const result = await run({ history: [{ role: "user", content: "before" }] });
    expect(result.answer).toBe("Let me look.\n\n42.");
    expect(result.messages).toEqual([
      { role: "user", content: "hello" },
      {
        role: "assistant",
        content: "Let me look.",
        calls: [{ id: "c1", tool: "praxis_buscar", argumentsText: '{"q":"x"}' }],
      },
      { role: "tool", callId: "c1", tool: "praxis_buscar", content: "[42]" },
      { role: "assistant", content: "42." },
    ]);
    expect(model.requests[0]?.messages[0]?.content).toBe("before");
    expect(model.requests[0]?.system).toBe("You are a.");
    expect(result.calls).toMatchObject([
      { tool: "praxis_buscar", outcome: "ok", argsHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  });

  it("is refused for an agent that is not loaded", async () => {
    const runtime = createRuntime({
      agentOf: () => undefined,
      toolsOf: () => undefined,
      modelOf: () => undefined,
      locale: "en",
      logger: silentLogger,
      now: () => 0,
    });
    await expect(runtime.run("nobody", request())).rejects.toMatchObject({ code: "agent_unknown" });
  });

  it.each([
    ["a duplicate key", '{"a":1,"a":2}'],
    ["__proto__", '{"__proto__":{"a":1}}'],
    ["an integer above 2^53", '{"a":9007199254740993}'],
    ["1e400", '{"a":1e400}'],
    ["a lone surrogate", '{"a":"\\ud800"}'],
    ["broken JSON", '{"a":'],
    ["a list", "[1]"],
    ["two values", "{} {}"],
  ])("tells the model what is wrong with arguments: %s", async (_name, argumentsText) => {
    const tool = recordingTool("t");
    const { run, model } = setting({
      tools: [tool],
      script: [{ raw: [{ tool: "t", argumentsText }] }, { text: "Oh." }],
    });
    const result = await run();
    expect(tool.calls).toEqual([]);
    expect(told(model)).toMatchObject({ status: "error", executed: false, reason: "bad_arguments" });
    expect(result.calls).toMatchObject([{ tool: "t", outcome: "error", code: "bad_arguments" }]);
  });

  it("takes no arguments at all for an empty object", async () => {
    const tool = recordingTool("t");
    const { run } = setting({
      tools: [tool],
      script: [{ raw: [{ tool: "t", argumentsText: "" }] }, { text: "Fine." }],
    });
    await run();
    expect(tool.calls.map((call) => call.args)).toEqual([{}]);
  });

  it("answers a call of an unknown tool with the names of those that there are", async () => {
    const { run, model } = setting({
      tools: [recordingTool("praxis_buscar")],
      script: [{ calls: [{ tool: "drop_tables", args: {} }] }, { text: "Oh." }],
    });
    const result = await run();
    expect(told(model)).toMatchObject({ reason: "unknown_tool", message: expect.stringContaining("praxis_buscar") });
    expect(JSON.stringify(result.calls)).not.toContain("drop_tables");
  });

  it("hands a tool's failure to the model, and goes on", async () => {
    const failing = recordingTool("t", {
      answer: () => ({ ok: false, code: "http_500", content: "It broke.", uncertain: false }),
    });
    const { run, model } = setting({
      tools: [failing],
      script: [{ calls: [{ tool: "t", args: {} }] }, { text: "Sorry." }],
    });
    const result = await run();
    expect(told(model)).toMatchObject({ status: "error", reason: "http_500", message: "It broke." });
    expect([result.answer, result.calls[0]?.outcome]).toEqual(["Sorry.", "error"]);
  });

  it("survives a tool that throws", async () => {
    const throwing = recordingTool("t", { answer: () => Promise.reject(new Error("secret path /etc/x")) });
    const { run, model } = setting({
      tools: [throwing],
      script: [{ calls: [{ tool: "t", args: {} }] }, { text: "Sorry." }],
    });
    expect((await run()).answer).toBe("Sorry.");
    expect(JSON.stringify(model.requests)).not.toContain("secret path");
  });

  it("makes the calls of one step in order, one after the other", async () => {
    const order: string[] = [];
    const tool = recordingTool("t", {
      answer: async ({ n }) => {
        order.push(`start ${n}`);
        await new Promise((resolve) => setTimeout(resolve, n === 1 ? 20 : 0));
        order.push(`end ${n}`);
        return { ok: true, content: String(n) };
      },
    });
    const calls = [1, 2, 3].map((n) => ({ tool: "t", args: { n } }));
    const { run, model } = setting({ tools: [tool], script: [{ calls }, { text: "Done." }] });
    await run();
    expect(order).toEqual(["start 1", "end 1", "start 2", "end 2", "start 3", "end 3"]);
    expect(model.requests[1]?.messages.slice(-3).map((message) => message.content)).toEqual(["1", "2", "3"]);
  });

  it("bounds a model that never stops calling, and says so", async () => {
    const tool = recordingTool("t");
    const { run, model } = setting({
      tools: [tool],
      agent: { maxIterations: 3 },
      script: () => ({ calls: [{ tool: "t", args: {} }] }),
    });
    const result = await run();
    expect([model.requests.length, tool.calls.length]).toEqual([3, 2]);
    expect(model.requests.at(-1)?.notes?.map((note) => note.kind)).toEqual(["last_step"]);
    expect(result.answer).toBe("I could not finish: it took more steps than I am allowed.");
    expect(result.messages.at(-1)).toMatchObject({ role: "tool" });
  });

  it("bounds the calls of a step and of a run", async () => {
    const tool = recordingTool("t");
    const many = Array.from({ length: 10 }, (_, n) => ({ tool: "t", args: { n } }));
    const step = setting({ tools: [tool], limits: { callsPerStep: 4 }, script: [{ calls: many }, { text: "Done." }] });
    expect((await step.run()).calls.map((call) => call.outcome)).toEqual([
      ...Array<string>(4).fill("ok"),
      ...Array<string>(6).fill("refused"),
    ]);
    const run = setting({ tools: [tool], limits: { callsPerRun: 3 }, script: [{ calls: many }, { text: "Done." }] });
    expect((await run.run()).calls.filter((call) => call.outcome === "ok")).toHaveLength(3);
  });

  it("cuts a result that is too long for a model, and says so", async () => {
    const tool = recordingTool("t", { answer: () => ({ ok: true, content: "x".repeat(1000) }) });
    const { run, model } = setting({
      tools: [tool],
      limits: { resultLength: 100 },
      script: [{ calls: [{ tool: "t", args: {} }] }, { text: "Done." }],
    });
    await run();
    expect(model.requests.at(-1)?.messages.at(-1)?.content).toBe(
      `${"x".repeat(100)}\n[cut: 900 more characters were left out]`,
    );
  });

  it("gives calls ids of its own where the model's are used up or unusable", async () => {
    const { run } = setting({
      tools: [recordingTool("t")],
      script: [
        {
          calls: [
            { tool: "t", args: {}, id: "call_0" },
            { tool: "t", args: {}, id: "call_0" },
          ],
        },
        {
          calls: [
            { tool: "t", args: {}, id: "call_0" },
            { tool: "t", args: {}, id: "bad id!" },
          ],
        },
        { text: "Done." },
      ],
    });
    const { messages } = await run();
    const ids = messages
      .flatMap((message) => (message.role === "assistant" ? (message.calls ?? []) : []))
      .map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    expect(ids.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id))).toBe(true);
    expect(messages.filter((message) => message.role === "tool").map((message) => message.callId)).toEqual(ids);
  });

  it("gives an ungated call the same key for every retry of the turn, and another for every repetition in it", async () => {
    const keys: string[] = [];
    for (let retry = 0; retry < 2; retry++) {
      const tool = recordingTool("t");
      const calls = [{ a: 1 }, { a: 1 }, { a: 2 }].map((args) => ({ tool: "t", args }));
      const { run } = setting({ tools: [tool], script: [{ calls }, { text: "Done." }] });
      await run();
      keys.push(...tool.calls.map((call) => call.context.idempotencyKey));
    }
    expect(keys.slice(0, 3)).toEqual(keys.slice(3));
    expect(new Set(keys).size).toBe(3);
  });

  it("hands per-run credentials to tools, and to nobody else", async () => {
    const tool = recordingTool("t");
    const { run, model } = setting({
      tools: [tool],
      script: [{ calls: [{ tool: "t", args: {} }] }, { text: "Done." }],
    });
    const result = await run({ connections: { praxis_main: { token: "sk-run-secret" } } });
    expect(tool.calls[0]?.context.connections).toEqual({ praxis_main: { token: "sk-run-secret" } });
    expect(JSON.stringify([model.requests, result])).not.toContain("sk-run-secret");
  });

  it("shows images to a model that sees, and remembers none", async () => {
    const images = [{ mime: "image/png", data: new Uint8Array([1]) }];
    const blind = setting({ script: [{ text: "A picture." }] });
    await blind.run({ images });
    expect(blind.model.requests[0]?.messages.at(-1)).toEqual({ role: "user", content: "hello" });
    const seeing = setting({ script: [{ text: "A picture." }] });
    Object.assign(seeing.model, { seesImages: true });
    const result = await seeing.run({ images });
    expect(seeing.model.requests[0]?.messages.at(-1)).toMatchObject({ images });
    expect(result.messages[0]).toEqual({ role: "user", content: "hello" });
  });
});

describe("a run that is stopped", () => {
  it("begins no call any more once its job is lost", async () => {
    const stop = new AbortController();
    const tool = recordingTool("t", {
      answer: () => {
        stop.abort(new DaleError("turn_aborted", "lost"));
        return { ok: true, content: "1" };
      },
    });
    const calls = [1, 2, 3].map((n) => ({ tool: "t", args: { n } }));
    const { run, model } = setting({ tools: [tool], script: [{ calls }, { text: "Done." }] });
    await expect(run({ signal: stop.signal })).rejects.toMatchObject({ code: "turn_aborted" });
    expect([tool.calls.length, model.requests.length]).toEqual([1, 1]);
  });

  it("asks neither model nor gate when it was stopped before it began", async () => {
    const stop = new AbortController();
    stop.abort();
    const { run, model } = setting({ script: [{ text: "Hello." }] });
    await expect(run({ signal: stop.signal })).rejects.toMatchObject({ code: "turn_aborted" });
    expect(model.requests).toEqual([]);
  });

  it("takes longer than its agent may: turn_timeout, with the tool's call stopped", async () => {
    let stopped = false;
    const tool = recordingTool("t", {
      answer: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            stopped = true;
            reject(signal.reason as Error);
          });
        }),
    });
    const { run } = setting({
      tools: [tool],
      agent: { timeoutMs: 30 },
      script: [{ calls: [{ tool: "t", args: {} }] }, { text: "Done." }],
    });
    await expect(run()).rejects.toMatchObject({ code: "turn_timeout" });
    expect(stopped).toBe(true);
  });

  it("hands a store that is away on, so that the turn is tried again", async () => {
    const gated = recordingTool("t", { needsConfirmation: true });
    const { run } = setting({ tools: [gated], script: [{ calls: [{ tool: "t", args: {} }] }, { text: "Done." }] });
    const away = new DaleError("store_unavailable", "away");
    const gate = { ...request().gate, consume: () => Promise.reject(away) };
    await expect(run({ gate })).rejects.toBe(away);
    expect(gated.calls).toEqual([]);
  });
});

describe("a guard", () => {
  it("is asked before every call, and its refusal is told to the model", async () => {
    const asked: unknown[] = [];
    const tool = recordingTool("t");
    const model = createPuppetModel([{ calls: [{ tool: "t", args: { amount: 5 } }] }, { text: "Hm." }]);
    const runtime = createRuntime({
      agentOf: () => agentDefinition("a"),
      toolsOf: () => [tool],
      modelOf: () => model,
      guard: async (call) => {
        asked.push({ ...call, args: { ...call.args } });
        return { code: "no_match", message: "Ask the person first." };
      },
      locale: "en",
      logger: silentLogger,
      now: () => 0,
    });
    const result = await runtime.run("a", request());
    expect(asked).toEqual([{ tool: "t", args: { amount: 5 }, session: "telegram:bot:1:1", granted: false }]);
    expect(tool.calls).toEqual([]);
    expect(result.calls).toMatchObject([{ outcome: "refused", code: "no_match" }]);
    expect(told(model)).toMatchObject({ status: "refused", message: "Ask the person first." });
  });
});

describe("an output schema", () => {
  const outputSchema = { type: "object", properties: { score: { type: "integer" } }, required: ["score"] };
  const good = 'Qualified.\n\n```json\n{"score": 8}\n```';

  it("gives the answer's data beside the answer", async () => {
    const { run, model } = setting({ agent: { outputSchema }, script: [{ text: good }] });
    const result = await run();
    expect([result.answer, result.data]).toEqual([good, { score: 8 }]);
    expect(model.requests[0]?.system).toContain(JSON.stringify(outputSchema));
  });

  it("asks once more when it does not fit", async () => {
    const { run, model } = setting({ agent: { outputSchema }, script: [{ text: "Eight." }, { text: '{"score": 8}' }] });
    const result = await run();
    expect([result.answer, result.data]).toEqual(['{"score": 8}', { score: 8 }]);
    expect(model.requests[1]?.notes?.map((note) => note.kind)).toEqual(["schema"]);
  });

  it("keeps the first answer, without data, when that does not help", async () => {
    const { run, model } = setting({
      agent: { outputSchema },
      script: [{ text: "Eight." }, { text: '{"score": "x"}' }],
    });
    const result = await run();
    expect([result.answer, result.data, model.requests.length]).toEqual(["Eight.", undefined, 2]);
  });
});

describe("a proposing tool of a tenant's own system", () => {
  const proposing = (name = "erp_crear_pedido") =>
    recordingTool(name, {
      kind: "api",
      requiresApproval: true,
      proposes: { tipo: "api", destino: "erp-cliente", operacion: "crear_pedido" },
      check: (args) => (typeof args.sku === "string" ? undefined : "sku has to be text."),
    });

  it("calls nobody and comes back as a propuesta", async () => {
    const tool = proposing();
    const { run, model } = setting({
      tools: [tool],
      script: [{ calls: [{ tool: "erp_crear_pedido", args: { sku: "A1" } }] }, { text: "Proposed." }],
    });
    const result = await run({ takesPropuestas: true });
    expect(tool.calls).toEqual([]);
    expect(result.propuestas).toEqual([
      {
        tool: "erp_crear_pedido",
        tipo: "api",
        destino: "erp-cliente",
        operacion: "crear_pedido",
        argumentos: { sku: "A1" },
      },
    ]);
    expect(told(model)).toMatchObject({ status: "proposed", executed: false });
  });

  it.each([
    ["bad arguments", { sku: 1 }, true, "bad_arguments"],
    ["nobody to take it", { sku: "A1" }, false, "nobody_takes_it"],
    ["more than 16 KB", { sku: "x".repeat(16 * 1024) }, true, "too_large"],
  ])("is refused for %s", async (_name, args, takesPropuestas, code) => {
    const { run } = setting({
      tools: [proposing()],
      script: [{ calls: [{ tool: "erp_crear_pedido", args }] }, { text: "Hm." }],
    });
    const result = await run({ takesPropuestas });
    expect([result.propuestas, result.calls[0]?.code]).toEqual([[], code]);
  });

  it("proposes twenty times in a run and no more", async () => {
    const calls = Array.from({ length: 12 }, (_, n) => ({ tool: "erp_crear_pedido", args: { sku: `A${n}` } }));
    const { run } = setting({ tools: [proposing()], script: [{ calls }, { calls }, { text: "Done." }] });
    const result = await run({ takesPropuestas: true });
    expect(result.propuestas).toHaveLength(20);
    expect(result.calls.slice(20).map((call) => call.code)).toEqual(Array(4).fill("too_many"));
  });
});
