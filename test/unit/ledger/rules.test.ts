import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type ConfirmationInput,
  checkToolCall,
  DaleError,
  type Ledger,
  type PoliciesInput,
} from "../../../src/app/ledger.js";
import { buildPolicies, checkCall, policiesShape } from "../../../src/ledger/index.js";
import { type ClockedLedger, clockedLedger, refundRule } from "../../fixtures/ledger.js";

const args = { order_id: "A-1", amount: 1500, items: [{ id: 7, note: "x" }] };
const call = { toolName: "issue_refund", args };
const minute = 60_000;

let clocked: ClockedLedger;
let ledger: Ledger;
beforeEach(() => {
  clocked = clockedLedger();
  ledger = clocked.ledger;
});
afterEach(() => ledger.close());

const inSession = <T>(fn: () => Promise<T>, sessionId = "s-1") => ledger.withContext({ sessionId }, fn);
const confirm = (over: Partial<ConfirmationInput> = {}) =>
  inSession(() => ledger.confirmToolCall({ ...call, ...over }));
const check = (policies: PoliciesInput = refundRule(), over: Partial<typeof call> | { args: unknown } = {}) =>
  inSession(() => checkToolCall({ ...call, ...over }, { ledger, policies }));

describe("a rule", () => {
  it("says nothing of calls that it is not about", async () => {
    expect(await check(refundRule({ tools: ["other_*"] }))).toEqual({ allowed: true });
    expect(await check(refundRule({ when: "amount > 2000" }))).toEqual({ allowed: true });
    expect(await check({ require_confirmation: [] })).toEqual({ allowed: true });
    expect(await check({})).toEqual({ allowed: true });
  });

  it("has no data without a ledger, and blocks nothing then", async () => {
    const verdict = await inSession(() => checkToolCall(call, { policies: refundRule() }));
    expect(verdict).toEqual({ allowed: true, reason: "no_confirmation_data", mode: "enforce" });
  });

  it("takes nothing but a ledger for one", async () => {
    const posing = { ...ledger };
    await expect(checkToolCall(call, { ledger: posing, policies: refundRule() })).rejects.toMatchObject({
      code: "config_invalid",
    });
  });

  it("is not asked about a call whose arguments have another name", async () => {
    const posing = { toolName: "issue_refund", arguments: args };
    const policies = refundRule({ when: "amount > 1000" });
    await expect(checkToolCall(posing, { ledger, policies })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining('"arguments"'),
    });
  });

  it("blocks a call that nobody was asked about", async () => {
    expect(await check()).toEqual({ allowed: false, reason: "no_match", mode: "enforce" });
    await confirm({ toolName: "other" });
    expect(await check()).toMatchObject({ reason: "no_match" });
  });

  it("blocks other arguments, and uses nothing up", async () => {
    await confirm();
    expect(await check(refundRule(), { args: { ...args, amount: 1501 } })).toMatchObject({
      allowed: false,
      reason: "args_mismatch",
    });
    expect(await check(refundRule(), { args: { items: args.items, amount: 1500.0, order_id: "A-1" } })).toMatchObject({
      reason: "confirmed",
    });
  });

  it("takes a confirmation without arguments for any call of the tool", async () => {
    await confirm({ args: undefined });
    expect(await check()).toMatchObject({ reason: "confirmed" });
    expect(await check()).toMatchObject({ reason: "already_used" });
  });

  it("takes no arguments for none", async () => {
    await confirm({ args: {} });
    expect(await check(refundRule(), { args: undefined })).toMatchObject({ reason: "confirmed" });
  });

  it("lets a confirmation expire, ten minutes unless it says so", async () => {
    await confirm();
    clocked.pass(10 * minute - 1);
    const brief = refundRule({ max_age: "30s" });
    expect(await check(brief)).toMatchObject({ allowed: false, reason: "expired" });
    expect(await check()).toMatchObject({ reason: "confirmed" });
    await confirm();
    clocked.pass(10 * minute);
    expect(await check()).toMatchObject({ allowed: false, reason: "expired" });
    expect(await check(refundRule({ max_age: "11m" }))).toMatchObject({ reason: "confirmed" });
  });

  it("finds nothing after an hour", async () => {
    await confirm();
    clocked.pass(60 * minute - 1);
    expect(await check()).toMatchObject({ reason: "expired" });
    clocked.pass(2);
    expect(await check(refundRule({ max_age: "1h" }))).toMatchObject({ reason: "no_match" });
  });

  it("accepts a user's confirmation unless it says so", async () => {
    await confirm({ kind: "human_review", actorRole: "reviewer" });
    expect(await check()).toMatchObject({ allowed: false, reason: "kind_not_accepted" });
    const kindOnly = refundRule({ accept: { kinds: ["human_review"] } });
    expect(await check(kindOnly)).toMatchObject({ allowed: false, reason: "kind_not_accepted" });
    const roleOnly = refundRule({ accept: { roles: ["reviewer"] } });
    expect(await check(roleOnly)).toMatchObject({ allowed: false, reason: "kind_not_accepted" });
    const both = refundRule({ accept: { kinds: ["confirmation", "human_review"], roles: ["user", "reviewer"] } });
    expect(await check(both)).toMatchObject({ reason: "confirmed" });
  });

  it("takes neither a no nor an open question for a yes", async () => {
    await confirm({ outcome: "pending" });
    expect(await check()).toMatchObject({ allowed: false, reason: "not_approved" });
    await confirm();
    expect(await check()).toMatchObject({ reason: "confirmed" });
    await confirm({ outcome: "rejected" });
    expect(await check()).toMatchObject({ allowed: false, reason: "not_approved" });
  });

  it("lets a later no take back a yes to the same call, and to that one alone", async () => {
    await confirm();
    await confirm({ args: { ...args, amount: 9 } });
    clocked.pass(1);
    await confirm({ outcome: "rejected", actorRole: "reviewer", kind: "human_review" });
    expect(await check()).toMatchObject({ allowed: false, reason: "not_approved" });
    expect(await check(refundRule(), { args: { ...args, amount: 9 } })).toMatchObject({ reason: "confirmed" });
    clocked.pass(1);
    await confirm();
    expect(await check()).toMatchObject({ reason: "confirmed" });
  });

  it("looks at the newest ten of the tool", async () => {
    await confirm();
    for (let n = 0; n < 9; n++) await confirm({ args: { ...args, amount: n } });
    await confirm({ toolName: "other" });
    expect(await check()).toMatchObject({ reason: "confirmed" });
    await confirm();
    for (let n = 0; n < 10; n++) await confirm({ args: { ...args, amount: n } });
    expect(await check()).toMatchObject({ reason: "args_mismatch" });
  });

  it("only watches under observe, and uses up what it would have", async () => {
    const observe = refundRule({ mode: "observe" });
    expect(await check(observe)).toEqual({ allowed: true, reason: "no_match", mode: "observe" });
    await confirm();
    expect(await check(observe)).toEqual({ allowed: true, reason: "confirmed", mode: "observe" });
    expect(await check(observe)).toEqual({ allowed: true, reason: "already_used", mode: "observe" });
  });

  it("lets two calls at once use one confirmation once", async () => {
    await confirm();
    const verdicts = await Promise.all(Array.from({ length: 8 }, () => check()));
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(1);
    expect(verdicts.filter(({ reason }) => reason === "already_used")).toHaveLength(7);
  });
});

describe("several rules for one call", () => {
  it("are all met, by one confirmation where it is good for all", async () => {
    const two = { require_confirmation: [{ tools: ["issue_*"] }, { tools: ["*_refund"], max_age: "1h" }] };
    await confirm();
    expect(await check(two)).toMatchObject({ allowed: true, reason: "confirmed" });
    expect(await check(two)).toMatchObject({ allowed: false, reason: "already_used" });
  });

  it("use nothing up when one of them refuses", async () => {
    const reviewed = { kinds: ["human_review" as const], roles: ["reviewer" as const] };
    const two = { require_confirmation: [{ tools: ["issue_refund"] }, { tools: ["issue_refund"], accept: reviewed }] };
    await confirm();
    expect(await check(two)).toMatchObject({ allowed: false, reason: "kind_not_accepted" });
    await confirm({ kind: "human_review", actorRole: "reviewer" });
    expect(await check(two)).toMatchObject({ allowed: true, reason: "confirmed" });
    expect(await check(two)).toMatchObject({ allowed: false, reason: "already_used" });
  });

  it("are answered by the one that forbids, whatever is only watched", async () => {
    const two = {
      require_confirmation: [
        { tools: ["issue_refund"], mode: "observe" as const, max_age: "1s" },
        { tools: ["issue_refund"], message: "Ask first." },
      ],
    };
    expect(await check(two)).toEqual({ allowed: false, reason: "no_match", mode: "enforce" });
    await confirm();
    clocked.pass(2000);
    expect(await check(two)).toEqual({ allowed: true, reason: "confirmed", mode: "enforce" });
  });
});

describe("fields that bind", () => {
  const paths = ["order_id", "items[0].id"];
  const elsewhere = { ...args, amount: 1, items: [{ id: 7, note: "y" }] };

  it("are the only ones that have to be the same where the app names them", async () => {
    await confirm({ bindFields: paths });
    expect(await check(refundRule(), { args: { ...elsewhere, order_id: "A-2" } })).toMatchObject({
      reason: "args_mismatch",
    });
    expect(await check(refundRule(), { args: { ...elsewhere, items: [{ id: 8 }] } })).toMatchObject({
      reason: "args_mismatch",
    });
    expect(await check(refundRule(), { args: elsewhere })).toMatchObject({ reason: "confirmed" });
  });

  it("are the only ones where the rule names them", async () => {
    const rule = refundRule({ bind_fields: paths });
    await confirm();
    expect(await check(rule, { args: { ...elsewhere, order_id: "A-2" } })).toMatchObject({ reason: "args_mismatch" });
    expect(await check(rule, { args: elsewhere })).toMatchObject({ reason: "confirmed" });
  });

  it("have to be bound by the app where the rule wants them", async () => {
    await confirm({ bindFields: ["items[0].id"] });
    await confirm({ args: undefined });
    expect(await check(refundRule({ bind_fields: ["order_id"] }))).toMatchObject({
      allowed: false,
      reason: "args_mismatch",
    });
  });

  it("match nothing where there is nothing", async () => {
    await confirm({ bindFields: ["order_id", "items[1].id"] });
    expect(await check()).toMatchObject({ allowed: false, reason: "args_mismatch" });
    await confirm();
    expect(await check(refundRule({ bind_fields: ["customer"] }))).toMatchObject({ reason: "args_mismatch" });
    await confirm({ args: undefined, bindFields: ["order_id"] });
    expect(await check(refundRule({ bind_fields: ["order_id"] }), { args: { amount: 1 } })).toMatchObject({
      allowed: false,
      reason: "args_mismatch",
    });
  });

  it("may be whole parts of the arguments", async () => {
    await confirm({ bindFields: ["items"] });
    expect(await check(refundRule(), { args: { items: args.items } })).toMatchObject({ reason: "confirmed" });
  });
});

describe("a confirmation that another process hashed with its own key", () => {
  it("cannot be compared: it blocks nothing, and is not used up", async () => {
    const foreign = {
      version: 1,
      id: "c-1",
      tool: "issue_refund",
      kind: "confirmation",
      outcome: "approved",
      role: "user",
      at: clocked.now(),
      binding: { to: "arguments", scheme: "hmac:000000000000", hash: "ab", fields: {}, only: false },
    } as const;
    const policies = buildPolicies(policiesShape.parse(refundRule()));
    let used = 0;
    const store = {
      record: async () => {},
      find: async () => [{ ...foreign, used: false }],
      use: async () => ++used > 0,
      close: async () => {},
    };
    const options = { store, policies, scope: "session:s-1", now: clocked.now };
    for (let n = 0; n < 2; n++) {
      const verdict = await checkCall({ tool: "issue_refund", args }, options);
      expect(verdict).toMatchObject({ allowed: true, reason: "not_comparable", mode: "enforce" });
    }
    expect(used).toBe(0);
    clocked.pass(10 * minute);
    expect(await checkCall({ tool: "issue_refund", args }, options)).toMatchObject({
      allowed: false,
      reason: "expired",
    });
  });

  it("is compared by the process itself, whatever ledger checks", async () => {
    const hidden = clockedLedger({ redactPii: true });
    await hidden.ledger.withContext({ sessionId: "s-1" }, () => hidden.ledger.confirmToolCall(call));
    const at = (over: object) =>
      hidden.ledger.withContext({ sessionId: "s-1" }, () =>
        checkToolCall({ ...call, ...over }, { ledger: hidden.ledger, policies: refundRule() }),
      );
    expect(await at({ args: {} })).toMatchObject({ allowed: false, reason: "args_mismatch" });
    expect(await at({})).toMatchObject({ allowed: true, reason: "confirmed" });
  });
});

describe("a store that is away", () => {
  const away = async () => {
    throw new DaleError("store_unavailable", "away");
  };
  const store = { record: away, find: away, use: away, close: async () => {} };
  const of = (mode: "observe" | "enforce") =>
    checkCall(
      { tool: "issue_refund", args },
      { store, policies: buildPolicies(policiesShape.parse(refundRule({ mode }))), scope: "session:s", now: Date.now },
    );

  it("lets no enforced call pass", async () => {
    expect(await of("enforce")).toMatchObject({ allowed: false, reason: "store_unavailable", mode: "enforce" });
  });

  it("lets what is only watched pass", async () => {
    expect(await of("observe")).toMatchObject({ allowed: true, reason: "store_unavailable", mode: "observe" });
  });
});
