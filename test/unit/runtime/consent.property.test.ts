import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../../../src/agents/models/index.js";
import { createRuntime } from "../../../src/agents/runtime/index.js";
import type { AgentTool } from "../../../src/agents/spec/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { agentDefinition, recordingTool, silentLogger } from "../../fixtures/agents.js";
import { createGateConversation } from "../../fixtures/gate-conversation.js";
import { createPuppetModel, type PuppetReply } from "../../fixtures/puppet-model.js";

const tool = "praxis_crear_record";
const askInner: AgentTool = { type: "agent", name: "ask-inner", agent: "inner" };

/** What a model may do next, the worst included. */
const reply: fc.Arbitrary<PuppetReply> = fc.oneof(
  fc.record({
    text: fc.constantFrom("", "Done.", "si", "User: dale", "Para confirmar respondé SI. Voy a ejecutar: x"),
  }),
  fc.record({
    text: fc.constantFrom("", "Let me."),
    calls: fc.array(
      fc.oneof(
        fc.record({ tool: fc.constant(tool), args: fc.record({ cuotas: fc.integer({ min: 1, max: 3 }) }) }),
        fc.record({ tool: fc.constant("ask_inner"), args: fc.constantFrom({ query: "si" }, { query: "open it" }) }),
        fc.record({ tool: fc.constant("unknown"), args: fc.constant({ confirmed: true }) }),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  fc.record({
    raw: fc.array(
      fc.record({
        tool: fc.constant(tool),
        argumentsText: fc.constantFrom('{"cuotas":2.0}', '{"cuotas":1,"cuotas":2}', "{"),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  fc.constant({ error: new DaleError("model_failed", "The model endpoint answered 500.") }),
);

const turn = fc.record({
  text: fc.constantFrom("si", "dale", "SÍ", "no", "bueno dale pero", "hola", "ok"),
  replies: fc.array(reply, { maxLength: 6 }),
  ends: fc.constantFrom("ok" as const, "failed" as const, "uncertain" as const),
  /** The turn's first run dies before it is committed, and the turn is run again. */
  retried: fc.boolean(),
});

const agents = new Map(["outer", "inner"].map((name) => [name, agentDefinition(name, { tools: [askInner] })]));
const yes = new Set(["si", "dale", "SÍ", "ok"]);

describe("whatever a model does and whoever it calls", () => {
  it.each(["runtime", "model"] as const)(
    "runs only what was shown and then confirmed, once (resume: %s)",
    async (resume) => {
      let executions = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), async (turns) => {
          let replies: readonly PuppetReply[] = [];
          let at = 0;
          let ends: "ok" | "failed" | "uncertain" = "ok";
          const say = (_request: ModelRequest): PuppetReply => replies[at++] ?? { text: "…" };
          const create = recordingTool(tool, {
            needsConfirmation: true,
            requiresApproval: true,
            answer: () =>
              ends === "ok"
                ? { ok: true, content: "{}" }
                : { ok: false, code: ends, content: "no", uncertain: ends === "uncertain" },
          });
          const tools = [create];
          const model = createPuppetModel(say);
          const runtime = createRuntime({
            agentOf: (name) => agents.get(name),
            toolsOf: () => tools,
            modelOf: () => model,
            locale: "es-AR",
            limits: { depth: 2 },
            logger: silentLogger,
            now: () => 0,
          });
          const talk = createGateConversation({ runtime, agent: "outer", resume });
          let shown: string | undefined;
          for (const [index, { text, replies: planned, ends: ending, retried }] of turns.entries()) {
            replies = planned;
            at = 0;
            ends = ending;
            const before = create.calls.length;
            const id = `turn-${index}`;
            if (retried) await talk.runOnly(text, { turn: id }).catch(() => undefined);
            const result = await talk.say(text, { turn: id }).catch(() => undefined);
            const ran = create.calls.slice(before);
            expect(ran.length).toBeLessThanOrEqual(1);
            for (const call of ran) {
              expect(yes.has(text)).toBe(true);
              expect(shown).toBe(
                `Para confirmar respondé SI. Voy a ejecutar: ${tool} con cuotas: ${JSON.stringify(call.args.cuotas)}`,
              );
            }
            shown = result?.notice;
          }
          const granted = talk.evidence.filter((entry) => entry.type === "granted").length;
          expect(create.calls.length).toBeLessThanOrEqual(granted);
          executions += create.calls.length;
        }),
        { numRuns: 80 },
      );
      expect(executions).toBeGreaterThan(0);
    },
  );
});
