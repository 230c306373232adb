import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { checkToolCall, guardOpenAITools, guardTools } from "../../../src/app/ledger.js";
import { type ClockedLedger, clockedLedger, refundRule } from "../../fixtures/ledger.js";

const args = { order_id: "A-1", amount: 50 };
let clocked: ClockedLedger;
beforeEach(() => {
  clocked = clockedLedger();
});
afterEach(() => clocked.ledger.close());

const inSession = <T>(fn: () => Promise<T>) => clocked.ledger.withContext({ sessionId: "s-1" }, fn);
const confirm = () => inSession(() => clocked.ledger.confirmToolCall({ toolName: "issue_refund", args }));
const options = (over = {}) => ({ ledger: clocked.ledger, policies: refundRule(over) });

/** A model that calls one tool, and then says what it was given. */
function caller(toolName: string, input: unknown): MockLanguageModelV3 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      const content =
        last?.role === "tool"
          ? ([{ type: "text", text: JSON.stringify(last.content) }] as const)
          : ([{ type: "tool-call", toolCallId: "c-1", toolName, input: JSON.stringify(input) }] as const);
      const unified = last?.role === "tool" ? ("stop" as const) : ("tool-calls" as const);
      return { content: [...content], finishReason: { unified, raw: undefined }, usage, warnings: [] };
    },
  });
}

describe("tools of ai", () => {
  const made: unknown[] = [];
  const issueRefund = tool({
    description: "Refunds",
    inputSchema: z.object({ order_id: z.string(), amount: z.number() }),
    execute: async (input) => {
      made.push(input);
      return { refunded: input.amount };
    },
  });
  beforeEach(() => {
    made.length = 0;
  });
  const ask = (tools: Parameters<typeof guardTools>[0], input: unknown = args) =>
    inSession(() =>
      generateText({
        model: caller("issue_refund", input),
        tools: tools as { issue_refund: typeof issueRefund },
        prompt: "refund A-1",
        stopWhen: stepCountIs(3),
      }),
    );

  it("run once after a confirmation, and not before", async () => {
    const tools = guardTools({ issue_refund: issueRefund }, options({ message: "Ask the person first." }));
    const refused = await ask(tools);
    expect(made).toEqual([]);
    expect(refused.text).toContain("Ask the person first.");
    expect(refused.text).toContain("no_match");

    await confirm();
    expect((await ask(tools)).text).toContain('"refunded":50');
    expect((await ask(tools)).text).toContain("already_used");
    expect(made).toEqual([args]);
  });

  it("run with no other arguments", async () => {
    await confirm();
    const tools = guardTools({ issue_refund: issueRefund }, options());
    expect((await ask(tools, { ...args, amount: 5000 })).text).toContain("args_mismatch");
    expect(made).toEqual([]);
  });

  it("run under observe, and where no rule applies", async () => {
    await ask(guardTools({ issue_refund: issueRefund }, options({ mode: "observe" })));
    await ask(guardTools({ issue_refund: issueRefund }, options({ when: "amount > 1000" })));
    expect(made).toEqual([args, args]);
  });

  it("keep everything else that they have, and their own wording for their own results", async () => {
    const worded = {
      ...issueRefund,
      toModelOutput: ({ output }: { output: { refunded: number } }) => ({
        type: "text" as const,
        value: `refunded ${output.refunded.toFixed(2)}`,
      }),
    };
    const tools = guardTools({ issue_refund: worded, search: { ...issueRefund, execute: undefined } }, options());
    expect(tools.issue_refund.description).toBe("Refunds");
    expect(tools.search.execute).toBeUndefined();
    expect((await ask({ issue_refund: tools.issue_refund })).text).toContain("no_match");
    await confirm();
    expect((await ask({ issue_refund: tools.issue_refund })).text).toContain("refunded 50.00");
  });

  it("may stream their results", async () => {
    const streaming = tool({
      inputSchema: z.object({ order_id: z.string(), amount: z.number() }),
      async *execute(input) {
        made.push(input);
        yield "working";
        yield "done";
      },
    });
    const tools = guardTools({ issue_refund: streaming }, options());
    expect((await ask(tools)).text).toContain("no_match");
    expect(made).toEqual([]);
    await confirm();
    expect((await ask(tools)).text).toContain('"done"');
    const returning = { ...streaming, execute: (input: typeof args) => streaming.execute?.(input, undefined as never) };
    const others = guardTools({ issue_refund: returning }, options());
    await confirm();
    expect((await ask(others)).text).toContain('"done"');
  });

  it("run exactly what was checked, whatever becomes of the arguments meanwhile", async () => {
    const { execute } = guardTools({ issue_refund: issueRefund }, options()).issue_refund;
    const run = (input: unknown) => inSession(async () => await execute?.(input as typeof args, undefined as never));
    await confirm();
    const changing = { ...args };
    const running = run(changing);
    changing.amount = 9_999;
    expect(await running).toEqual({ refunded: 50 });

    await confirm();
    let reads = 0;
    const answers = Object.defineProperty({ ...args }, "amount", {
      enumerable: true,
      get: () => (reads++ === 0 ? 50 : 9_999),
    });
    expect(await run(answers)).toEqual({ refunded: 50 });

    await confirm();
    const throwing = Object.defineProperty({ ...args }, "amount", {
      enumerable: true,
      get() {
        if (reads++ === 1) throw new Error("not now");
        return 50;
      },
    });
    reads = 1;
    expect(await run(throwing)).toMatchObject({ status: "refused", reason: "args_mismatch" });
    expect(made).toEqual([args, args]);
  });

  it("have the parts that are no JSON as they are, and are bound by the fields beside them", async () => {
    const when = new Date(0);
    const lines = [{ id: 7, when }];
    const { execute } = guardTools({ issue_refund: issueRefund }, options()).issue_refund;
    const run = (input: unknown) => inSession(async () => await execute?.(input as typeof args, undefined as never));
    await inSession(() =>
      clocked.ledger.confirmToolCall({ toolName: "issue_refund", args, bindFields: ["order_id", "amount"] }),
    );
    expect(await run({ ...args, amount: 51, lines })).toMatchObject({ reason: "args_mismatch" });
    const changing = { ...args, lines };
    const running = run(changing);
    changing.order_id = "A-2";
    expect(await running).toEqual({ refunded: 50 });
    expect(made).toEqual([{ ...args, lines }]);
    expect((made as { lines: { when: Date }[] }[])[0]?.lines[0]?.when).toBe(when);
  });

  it.each([
    ["no tools", null],
    ["a list", [issueRefund]],
    ["a tool that is none", { x: null }],
  ])("are refused at once with %s", (_, tools) => {
    expect(() => guardTools(tools as object, options())).toThrow(
      expect.objectContaining({ code: "config_invalid", message: expect.stringContaining("guardTools takes") }),
    );
  });

  it.each([
    ["no options", null],
    ["a misspelt one", { ledgr: 7, policies: refundRule() }],
  ])("are refused at once with %s", async (_, given) => {
    const wrong = expect.objectContaining({ code: "config_invalid", message: expect.stringMatching(/\{ledger, pol/) });
    const unfit = given as unknown as ReturnType<typeof options>;
    expect(() => guardTools({ issue_refund: issueRefund }, unfit)).toThrow(wrong);
    expect(() => guardOpenAITools([], unfit)).toThrow(wrong);
    await expect(checkToolCall({ toolName: "issue_refund", args }, unfit)).rejects.toEqual(wrong);
  });

  it("are refused at once with policies that are none", () => {
    const policies = { require_confirmation: [{ tools: [] }] };
    expect(() => guardTools({ issue_refund: issueRefund }, { ledger: clocked.ledger, policies })).toThrow(
      expect.objectContaining({ code: "config_invalid" }),
    );
  });
});

describe("tools of the OpenAI client's own loop", () => {
  /** What `runTools` does with one call of the model's. */
  async function runTool(list: readonly { function: RunnableFunction }[], name: string, text: string): Promise<string> {
    const found = list.find((each) => (each.function.name ?? each.function.function.name) === name);
    if (!found) return `no such tool: ${name}`;
    const parsed = found.function.parse ? await found.function.parse(text) : text;
    const content = await inSession(async () => await found.function.function(parsed as never, {}));
    return typeof content === "string" ? content : JSON.stringify(content);
  }
  interface RunnableFunction {
    name?: string;
    parse?: (text: string) => unknown;
    function: (input: never, runner: unknown) => unknown;
  }

  const made: unknown[] = [];
  async function issue_refund(input: unknown) {
    made.push(input);
    return { refunded: true };
  }
  beforeEach(() => {
    made.length = 0;
  });
  const parsing = {
    type: "function" as const,
    function: { function: issue_refund, parse: JSON.parse, parameters: {} },
  };
  const raw = { type: "function" as const, function: { function: issue_refund, name: "issue_refund", parameters: {} } };

  it.each([
    ["with parsed arguments", parsing],
    ["with arguments as text", raw],
  ])("run once after a confirmation, %s", async (_, given) => {
    const tools = guardOpenAITools([given], options({ message: "Ask first." }));
    expect(await runTool(tools, "issue_refund", JSON.stringify(args))).toContain("Ask first.");
    expect(made).toEqual([]);
    await confirm();
    expect(await runTool(tools, "issue_refund", '{"amount": 50.0, "order_id": "A-1"}')).toContain("refunded");
    expect(await runTool(tools, "issue_refund", JSON.stringify(args))).toContain("already_used");
    expect(made).toHaveLength(1);
  });

  it("do not run on what cannot be read", async () => {
    await confirm();
    const tools = guardOpenAITools([raw], options({ when: "amount > 1000" }));
    expect(await runTool(tools, "issue_refund", '{"amount": 50, "amount": 5000}')).toContain("args_mismatch");
    expect(made).toEqual([]);
  });

  it("run exactly what was checked, whatever becomes of the arguments meanwhile", async () => {
    await confirm();
    const [guarded] = guardOpenAITools([parsing], options());
    const changing = { ...args };
    const running = inSession(async () => await guarded?.function.function(changing));
    changing.amount = 9_999;
    expect(await running).toEqual({ refunded: true });
    expect(made).toEqual([args]);
  });

  it.each([
    ["no list", { parsing }],
    ["a tool that is none", [null]],
  ])("are refused at once with %s", (_, tools) => {
    expect(() => guardOpenAITools(tools as never, options())).toThrow(
      expect.objectContaining({ code: "config_invalid", message: expect.stringContaining("guardOpenAITools takes") }),
    );
  });

  it("that the loop does not run itself stay as they are", () => {
    const declared = { type: "function" as const, function: { name: "x", parameters: {} } };
    expect(guardOpenAITools([declared], options())).toEqual([declared]);
  });
});
