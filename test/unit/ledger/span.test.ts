import { type Attributes, type Tracer, trace } from "@opentelemetry/api";
import { afterEach, expect, it, vi } from "vitest";
import { confirmationArgsHash, confirmToolCall, createLedger, withContext } from "../../../src/app/ledger.js";

const spans: { readonly name: string; readonly attributes: Attributes; ended: boolean }[] = [];
let fails = false;
const tracer = {
  startSpan(name: string, { attributes = {} }: { attributes?: Attributes } = {}) {
    if (fails) throw new Error("no tracing today");
    const span = { name, attributes, ended: false };
    spans.push(span);
    return {
      end() {
        span.ended = true;
      },
    };
  },
} as unknown as Tracer;
trace.setGlobalTracerProvider({ getTracer: () => tracer });

afterEach(() => {
  spans.length = 0;
  fails = false;
  vi.unstubAllEnvs();
});

const args = { order_id: "A-1", secret: "do not tell" };

it("tells of a confirmation, with a hash and never the arguments", async () => {
  createLedger();
  await withContext({ sessionId: "s-1" }, () =>
    confirmToolCall({
      toolName: "issue_refund",
      args,
      kind: "human_review",
      actorRole: "reviewer",
      outcome: "rejected",
    }),
  );
  expect(spans).toEqual([
    {
      name: "human_in_loop",
      ended: true,
      attributes: {
        "human_in_loop.kind": "human_review",
        "human_in_loop.outcome": "rejected",
        "human_in_loop.actor_role": "reviewer",
        "human_in_loop.tool_name": "issue_refund",
        "human_in_loop.args_hash": confirmationArgsHash(args),
      },
    },
  ]);
  expect(JSON.stringify(spans)).not.toContain("do not tell");
});

it("tells of one that is not kept, and not of what is none", async () => {
  createLedger();
  await confirmToolCall({ toolName: "t", args: { at: new Date(0) } });
  vi.stubEnv("DALE_CONFIRMATION_LEDGER", "off");
  await confirmToolCall({ toolName: "t" });
  expect(spans.map(({ attributes }) => attributes["human_in_loop.args_hash"])).toEqual([undefined, undefined]);
  await confirmToolCall({ toolName: "" });
  expect(spans).toHaveLength(2);
});

it("takes no confirmation down with it", async () => {
  createLedger();
  fails = true;
  await withContext({ sessionId: "s-1" }, async () => {
    expect(await confirmToolCall({ toolName: "t", args })).toEqual({ recorded: true });
  });
});
