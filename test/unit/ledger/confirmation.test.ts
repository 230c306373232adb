import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  checkToolCall,
  confirmationArgsHash,
  confirmToolCall,
  createLedger,
  type Ledger,
  withContext,
} from "../../../src/app/ledger.js";
import { refundRule } from "../../fixtures/ledger.js";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const args = { order_id: "A-1", amount: 50 };
const call = { toolName: "issue_refund", args };
const policies = refundRule();

let ledger: Ledger;
beforeEach(() => {
  ledger = createLedger();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await ledger.close();
});

describe("confirmToolCall", () => {
  it("records, and unlocks one call", async () => {
    await withContext({ sessionId: "s-1" }, async () => {
      expect(await confirmToolCall(call)).toEqual({ recorded: true });
      expect(await checkToolCall(call, { ledger, policies })).toEqual({
        allowed: true,
        reason: "confirmed",
        mode: "enforce",
      });
      expect(await checkToolCall(call, { ledger, policies })).toEqual({
        allowed: false,
        reason: "already_used",
        mode: "enforce",
      });
    });
  });

  it("answers no_client after the ledger is closed", async () => {
    await ledger.close();
    expect(await confirmToolCall(call)).toEqual({ recorded: false, reason: "no_client" });
    expect(await ledger.confirmToolCall(call)).toEqual({ recorded: false, reason: "no_client" });
  });

  it("keeps nothing without a context", async () => {
    expect(await confirmToolCall(call)).toEqual({ recorded: true, reason: "no_context" });
    await withContext({}, async () => {
      expect(await confirmToolCall(call)).toEqual({ recorded: true, reason: "no_context" });
    });
    await withContext({ sessionId: "s-1" }, async () => {
      expect(await checkToolCall(call, { ledger, policies })).toMatchObject({ allowed: false, reason: "no_match" });
    });
  });

  it("keeps nothing while the ledger is off, and every rule says so", async () => {
    vi.stubEnv("DALE_CONFIRMATION_LEDGER", "off");
    await withContext({ sessionId: "s-1" }, async () => {
      expect(await confirmToolCall(call)).toEqual({ recorded: true, reason: "ledger_off" });
      expect(await checkToolCall(call, { ledger, policies })).toEqual({
        allowed: true,
        reason: "no_confirmation_data",
        mode: "enforce",
      });
      vi.unstubAllEnvs();
      expect(await checkToolCall(call, { ledger, policies })).toMatchObject({ allowed: false, reason: "no_match" });
    });
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["a text", "issue_refund"],
    ["no tool", { args }],
    ["an empty tool", { toolName: "" }],
    ["a tool with a control character", { toolName: "a\u0000b" }],
    ["a tool of 257 characters", { toolName: "x".repeat(257) }],
    ["an unknown kind", { ...call, kind: "yes" }],
    ["an unknown outcome", { ...call, outcome: "maybe" }],
    ["an unknown role", { ...call, actorRole: "model" }],
    ["null for a kind", { ...call, kind: null }],
    ["a ref with a space", { ...call, ref: "m 1" }],
    ["a ref of 129 characters", { ...call, ref: "x".repeat(129) }],
    ["an empty ref", { ...call, ref: "" }],
    ["a ref that is no text", { ...call, ref: 7 }],
    ["fields that are no list", { ...call, bindFields: "order_id" }],
    ["no fields at all", { ...call, bindFields: [] }],
    ["a field that is no path", { ...call, bindFields: ["a..b"] }],
    ["a getter that throws for the tool", Object.defineProperty({ args }, "toolName", { get: () => fail() })],
    ["a proxy that throws", new Proxy({}, { get: () => fail() })],
    ["a proxy whose keys throw", new Proxy({}, { ownKeys: () => fail() })],
  ])("refuses %s, and does not throw", async (_, input) => {
    await withContext({ sessionId: "s-1" }, async () => {
      expect(await confirmToolCall(input as typeof call)).toEqual({ recorded: false, reason: "invalid_input" });
    });
  });

  it.each([
    ["a misspelt option", { ...call, outcom: "rejected" }],
    ["another name for the arguments", { toolName: "issue_refund", arguments: args }],
    ["one that is undefined", { ...call, bind_fields: undefined }],
    ["one that is no text", { ...call, [Symbol("outcome")]: "rejected" }],
    ["an inherited one", Object.create({ ...call, outcom: "rejected" })],
  ])("records nothing with %s: it is not taken for one that was left out", async (_, input) => {
    await withContext({ sessionId: "s-1" }, async () => {
      expect(await confirmToolCall(input as typeof call)).toEqual({ recorded: false, reason: "unknown_option" });
      expect(await checkToolCall(call, { ledger, policies })).toMatchObject({ allowed: false, reason: "no_match" });
    });
  });

  it("takes inherited options for its own", async () => {
    class Asked {
      readonly toolName = "issue_refund";
      get outcome() {
        return "rejected" as const;
      }
    }
    await withContext({ sessionId: "s-1" }, async () => {
      expect(await confirmToolCall(new Asked())).toEqual({ recorded: true });
      expect(await checkToolCall(call, { ledger, policies })).toMatchObject({ reason: "not_approved" });
    });
  });

  it.each(["x".repeat(128), "a.b_c:d-9"])("takes the ref %s", async (ref) => {
    await withContext({ sessionId: "s-1" }, async () => {
      expect(await confirmToolCall({ ...call, ref })).toEqual({ recorded: true });
    });
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
  it.each([
    ["a cycle", cycle],
    ["300 KiB", { text: "x".repeat(300 * 1024) }],
    ["33 levels", deep(33)],
    ["a date", { at: new Date(0) }],
    ["a map", new Map([["a", 1]])],
    ["an instance", new (class Order {})()],
    ["a function", { f: () => 1 }],
    ["NaN", { amount: Number.NaN }],
    ["a bigint", { amount: 1n }],
    ["half a surrogate pair", { text: "\ud800" }],
    ["a getter that throws", Object.defineProperty({}, "amount", { enumerable: true, get: () => fail() })],
    ["a proxy that throws", new Proxy({}, { ownKeys: () => fail() })],
  ])("ties a confirmation of %s to the tool alone", async (_, strange) => {
    await withContext({ sessionId: "s-1" }, async () => {
      const recorded = await confirmToolCall({ toolName: "issue_refund", args: strange });
      expect(recorded).toEqual({ recorded: true, reason: "unhashable_args" });
      expect(await checkToolCall(call, { ledger, policies })).toMatchObject({ allowed: true, reason: "confirmed" });
    });
  });

  it.each([
    ["a date", { at: new Date(0) }],
    ["a map", { seen: new Map() }],
    ["300 KiB", { text: "x".repeat(300 * 1024) }],
    ["33 levels", { deep: deep(33) }],
    ["NaN", { other: Number.NaN }],
  ])("ties one to the fields that bind, whatever stands beside them: %s", async (_, beside) => {
    const order = (order_id: string, more: object = {}) => ({ toolName: "issue_refund", args: { order_id, ...more } });
    await withContext({ sessionId: "s-1" }, async () => {
      const input = { ...order("A-1", beside), bindFields: ["order_id"] };
      expect(await confirmToolCall(input)).toEqual({ recorded: true });
      const reasonOf = async (other: typeof call | ReturnType<typeof order>) =>
        (await checkToolCall(other, { ledger, policies })).reason;
      expect(await reasonOf(order("A-2"))).toBe("args_mismatch");
      expect(await reasonOf(order("A-2", beside))).toBe("args_mismatch");
      expect(await reasonOf(order("A-1", { amount: 7 }))).toBe("confirmed");
      await confirmToolCall(input);
      expect(await reasonOf(order("A-1", beside))).toBe("confirmed");
    });
  });

  it.each([
    ["a date", { order_id: new Date(0) }],
    ["a bigint", { order_id: 1n }],
    ["a part that holds a date", { order_id: { at: new Date(0) } }],
    ["a getter that throws", Object.defineProperty({}, "order_id", { enumerable: true, get: () => fail() })],
    [
      "an instance around it",
      new (class Order {
        order_id = "A-1";
      })(),
    ],
    ["a cycle around it", Object.assign(Object.create(null), { order_id: "A-1", cycle })],
  ])("ties one to nothing at all where a field that binds cannot be hashed: %s", async (_, strange) => {
    await withContext({ sessionId: "s-1" }, async () => {
      const input = { toolName: "issue_refund", args: strange, bindFields: ["order_id"] };
      expect(await confirmToolCall(input)).toEqual({ recorded: true, reason: "unhashable_args" });
      for (const other of [args, strange]) {
        const verdict = await checkToolCall({ toolName: "issue_refund", args: other }, { ledger, policies });
        expect(verdict).toMatchObject({ allowed: false, reason: "args_mismatch" });
      }
    });
  });

  it("ties one of null to null", async () => {
    await withContext({ sessionId: "s-1" }, async () => {
      await confirmToolCall({ toolName: "issue_refund", args: null });
      const reasonOf = async (given: unknown) =>
        (await checkToolCall({ toolName: "issue_refund", args: given }, { ledger, policies })).reason;
      expect(await reasonOf({})).toBe("args_mismatch");
      expect(await reasonOf(null)).toBe("confirmed");
    });
  });

  it("ties one whose arguments cannot even be got at to the tool alone", async () => {
    const input = Object.defineProperty({ toolName: "issue_refund" }, "args", { get: () => fail() });
    await withContext({ sessionId: "s-1" }, async () => {
      expect(await confirmToolCall(input)).toEqual({ recorded: true, reason: "unhashable_args" });
    });
  });

  it("does not let a call whose arguments cannot be hashed pass for a confirmed one", async () => {
    await withContext({ sessionId: "s-1" }, async () => {
      await confirmToolCall(call);
      const strange = { toolName: "issue_refund", args: { ...args, at: new Date(0) } };
      expect(await checkToolCall(strange, { ledger, policies })).toMatchObject({
        allowed: false,
        reason: "args_mismatch",
      });
    });
  });

  it("has 32 levels and 250 KiB for arguments like any other", async () => {
    await withContext({ sessionId: "s-1" }, async () => {
      expect(await confirmToolCall({ toolName: "t", args: deep(32) })).toEqual({ recorded: true });
      expect(await confirmToolCall({ toolName: "t", args: { text: "x".repeat(250 * 1024) } })).toEqual({
        recorded: true,
      });
    });
  });
});

describe("confirmationArgsHash", () => {
  it("is the SHA-256 of the canonical form", () => {
    expect(confirmationArgsHash({ b: 1.0, a: "é" })).toBe(sha256('{"a":"é","b":1}'));
    expect(confirmationArgsHash({ a: "é", b: 1 })).toBe(ledger.confirmationArgsHash({ b: 1, a: "é" }));
    expect(confirmationArgsHash({ b: "1", a: "é" })).not.toBe(confirmationArgsHash({ b: 1, a: "é" }));
  });

  it("is nothing for what has none", () => {
    expect(confirmationArgsHash(undefined)).toBeUndefined();
    expect(confirmationArgsHash({ at: new Date() })).toBeUndefined();
  });

  it.each([{ redactPii: true }, { captureTools: false }])("cannot be made by others with %j", async (options) => {
    const hidden = createLedger(options);
    const hash = confirmationArgsHash({ a: 1 });
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(hash).not.toBe(sha256('{"a":1}'));
    expect(createLedger(options).confirmationArgsHash({ a: 1 })).toBe(hash);
    expect(hidden.confirmationArgsHash({ a: 1 })).toBe(hash);
  });
});

function fail(): never {
  throw new Error("read");
}
