import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CarriedConfirmation, checkToolCall, confirmToolCall, withContext } from "../../../src/app/ledger.js";
import { type ClockedLedger, clockedLedger, refundRule } from "../../fixtures/ledger.js";

const args = { order_id: "A-1", amount: 50 };
const call = { toolName: "issue_refund", args };
const policies = refundRule();
const minute = 60_000;

let clocked: ClockedLedger;
beforeEach(() => {
  clocked = clockedLedger();
});
afterEach(() => clocked.ledger.close());

const check = (over: Partial<typeof call> = {}) =>
  checkToolCall({ ...call, ...over }, { ledger: clocked.ledger, policies });
const reasonIn = async (sessionId: string) => (await withContext({ sessionId }, () => check())).reason;

describe("a context", () => {
  it("hands back what its function returns, at once or later", async () => {
    expect(withContext({ sessionId: "s" }, () => "now")).toBe("now");
    expect(await withContext({ sessionId: "s" }, async () => "later")).toBe("later");
    expect(() =>
      withContext({ sessionId: "s" }, () => {
        throw new Error("its own");
      }),
    ).toThrow("its own");
  });

  it("ties a confirmation to its session", async () => {
    await withContext({ sessionId: "s-1" }, () => confirmToolCall(call));
    expect(await reasonIn("s-2")).toBe("no_match");
    expect(await reasonIn("s-1")).toBe("confirmed");
  });

  it("uses the trace where there is no session, and never takes one for the other", async () => {
    await withContext({ traceId: "x" }, () => confirmToolCall(call));
    expect(await reasonIn("x")).toBe("no_match");
    expect((await withContext({ sessionId: "s", traceId: "x" }, () => check())).reason).toBe("no_match");
    expect((await withContext({ traceId: "x" }, () => check())).reason).toBe("confirmed");
  });

  it("follows asynchronous work, and two at once do not meet", async () => {
    await Promise.all(
      ["a", "b"].map((sessionId) =>
        withContext({ sessionId }, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          await confirmToolCall({ toolName: `tool_${sessionId}` });
        }),
      ),
    );
    const rules = { require_confirmation: [{ tools: ["tool_*"] }] };
    const of = (sessionId: string, toolName: string) =>
      withContext({ sessionId }, () => checkToolCall({ toolName }, { ledger: clocked.ledger, policies: rules }));
    expect(await of("a", "tool_b")).toMatchObject({ allowed: false });
    expect(await of("a", "tool_a")).toMatchObject({ allowed: true });
    expect(await of("b", "tool_b")).toMatchObject({ allowed: true });
  });

  it("adds to the one around it, unless it names another session", async () => {
    await withContext(
      { sessionId: "s-1", confirmations: [{ toolName: "issue_refund", args, ref: "m-1" }] },
      async () => {
        expect((await withContext({ sessionId: "s-2" }, () => check())).reason).toBe("no_match");
        expect((await withContext({ confirmations: [] }, () => check())).reason).toBe("confirmed");
      },
    );
  });

  it.each([null, 7, "s-1", { sessionId: "" }, { sessionId: 7 }, { sessionId: "x".repeat(513) }])(
    "takes %j for none at all",
    async (context) => {
      await withContext(context as object, async () => {
        expect(await confirmToolCall(call)).toEqual({ recorded: true, reason: "no_context" });
        expect(await check()).toMatchObject({ allowed: false, reason: "no_match" });
      });
    },
  );
});

describe("a confirmation that is carried to another process", () => {
  const carried = (over: Partial<CarriedConfirmation> = {}): CarriedConfirmation => ({
    toolName: "issue_refund",
    args,
    ref: "m-1",
    ...over,
  });
  const job = (confirmation: unknown, sessionId = "s-1") =>
    withContext({ sessionId, confirmations: [confirmation as CarriedConfirmation] }, async () => await check());

  it("unlocks one call, however often the job is retried", async () => {
    expect(await job(carried())).toMatchObject({ allowed: true, reason: "confirmed" });
    expect(await job(carried())).toMatchObject({ allowed: false, reason: "already_used" });
    clocked.pass(26 * 60 * minute);
    expect(await job(carried({ ageMs: 0 }))).toMatchObject({ allowed: false, reason: "already_used" });
  });

  it("is refused without having been used when its arguments are others", async () => {
    expect(await job(carried({ args: { ...args, amount: 51 } }))).toMatchObject({ reason: "args_mismatch" });
    expect(await job(carried())).toMatchObject({ reason: "confirmed" });
  });

  it("spends the ref for the same confirmation that was recorded here", async () => {
    await withContext({ sessionId: "s-1" }, () => confirmToolCall({ ...call, ref: "m-1" }));
    expect(await job(carried())).toMatchObject({ reason: "confirmed" });
    expect(await reasonIn("s-1")).toBe("already_used");
  });

  it("is spent with its ref, whatever session or trace carries it then", async () => {
    expect(await job(carried())).toMatchObject({ reason: "confirmed" });
    expect(await job(carried(), "s-2")).toMatchObject({ allowed: false, reason: "already_used" });
    await withContext({ traceId: "x", confirmations: [carried()] }, async () => {
      expect(await check()).toMatchObject({ allowed: false, reason: "already_used" });
    });
  });

  it("is as old as it says", async () => {
    const iso = (ms: number) => new Date(ms).toISOString();
    expect(await job(carried({ ref: "a", ageMs: 9 * minute }))).toMatchObject({ reason: "confirmed" });
    expect(await job(carried({ ref: "b", ageMs: 11 * minute }))).toMatchObject({ reason: "expired" });
    expect(await job(carried({ ref: "c", at: iso(clocked.now() - 9 * minute) }))).toMatchObject({
      reason: "confirmed",
    });
    expect(await job(carried({ ref: "d", at: iso(clocked.now() - 11 * minute) }))).toMatchObject({ reason: "expired" });
    expect(await job(carried({ ref: "e", at: iso(clocked.now()), ageMs: 11 * minute }))).toMatchObject({
      reason: "expired",
    });
  });

  it.each([
    ["an age in the future", { ageMs: -1 }],
    ["a time in the future", { at: "2026-03-01T12:00:00.001Z" }],
    ["a time without a zone", { at: "2026-03-01T11:59:00" }],
    ["a time that is none", { at: "yesterday" }],
    ["a day that does not exist", { at: "2026-02-41T11:59:00Z" }],
    ["an age that is no number", { ageMs: "5" }],
    ["an endless age", { ageMs: Number.POSITIVE_INFINITY }],
    ["an age that is none", { ageMs: Number.NaN }],
    ["more than an hour", { ageMs: 60 * minute + 1 }],
    ["no ref", { ref: undefined }],
    ["a bad ref", { ref: "a b" }],
    ["no tool", { toolName: undefined }],
    ["a no", { outcome: "rejected" }],
    ["even a yes of its own", { outcome: "approved" }],
    ["a kind", { kind: "human_review" }],
    ["a role", { actorRole: "user" }],
    ["any other key", { arguments: args }],
  ])("counts for nothing with %s", async (_, over) => {
    expect(await job({ ...carried(), ...over })).toMatchObject({ allowed: false, reason: "no_match" });
  });

  it.each([
    ["no list", { confirmations: 7 }],
    ["something that is none", { confirmations: [null, 7, "x"] }],
    ["a list that throws", { confirmations: new Proxy([1], { get: () => fail() }) }],
    ["a getter that throws", Object.defineProperty({}, "confirmations", { get: () => fail() })],
  ])("is not there with %s", async (_, over) => {
    const context = Object.defineProperty(over as object, "sessionId", { value: "s-1", enumerable: true });
    await expect(withContext(context, () => check())).resolves.toMatchObject({ allowed: false, reason: "no_match" });
  });

  it("counts for nothing with a key that it inherits", async () => {
    class Rejected {
      readonly toolName = "issue_refund";
      readonly args = args;
      readonly ref = "m-1";
      get outcome() {
        return "rejected";
      }
    }
    expect(await job(new Rejected())).toMatchObject({ allowed: false, reason: "no_match" });
  });

  it("is what it was when it was handed over", async () => {
    const changing = { ...args };
    await withContext({ sessionId: "s-1", confirmations: [carried({ args: changing })] }, async () => {
      changing.amount = 9_999;
      expect(await check({ args: changing })).toMatchObject({ allowed: false, reason: "args_mismatch" });
      expect(await check()).toMatchObject({ allowed: true });
    });
  });

  it("is never a reviewer's, whatever it says", async () => {
    const rules = refundRule({ accept: { kinds: ["human_review"], roles: ["reviewer"] } });
    const posing = { ...carried(), kind: "human_review", actorRole: "reviewer" };
    await withContext({ sessionId: "s-1", confirmations: [posing] }, async () => {
      const verdict = await checkToolCall(call, { ledger: clocked.ledger, policies: rules });
      expect(verdict).toMatchObject({ allowed: false, reason: "no_match" });
    });
  });
});

function fail(): never {
  throw new Error("read");
}
