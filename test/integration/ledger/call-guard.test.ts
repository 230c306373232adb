import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createCallGuard, warnOfBlindRules } from "../../../src/app/call-guard.js";
import { createLogger } from "../../../src/app/logger.js";
import { createMetrics } from "../../../src/app/metrics.js";
import { fingerprint } from "../../../src/canonical/index.js";
import { type PoliciesInput, readPolicies } from "../../../src/ledger/index.js";
import { createApprovalStore, createPolicyCounts, createRedisLedgerStore } from "../../../src/store/index.js";
import { parkedApproval } from "../../fixtures/approvals.js";
import { refundRule } from "../../fixtures/ledger.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";

const call = {
  tool: "issue_refund",
  args: { order_id: "A-1", amount: 50 },
  session: "telegram:bot:7:7",
  granted: false,
};
const grant = { by: "person", ref: "p-1", at: Date.now() } as const;

let redis: Redis;
let prefix: string;
beforeEach(() => {
  redis = testRedis();
  prefix = testPrefix();
});
afterEach(() => {
  redis.disconnect();
  vi.unstubAllEnvs();
});

function guardWith(input: PoliciesInput) {
  const policies = readPolicies(input);
  const counts = createPolicyCounts({ redis, prefix });
  const guard = createCallGuard({
    policies,
    store: createRedisLedgerStore({ redis, prefix }),
    counts,
    approvals: createApprovalStore({ redis, prefix }),
    metrics: createMetrics(() => []),
    logger: createLogger({ level: "error" }),
    now: Date.now,
  });
  const read = async () => (await counts.read(policies.rules.map(({ id }) => id)))[0];
  return { guard, read };
}

describe("the rules at the executor", () => {
  it("refuse what nobody confirmed, with the operator's words", async () => {
    const { guard } = guardWith(refundRule({ message: "Ask the customer first." }));
    expect(await guard(call)).toEqual({
      code: "no_match",
      message: "This call was NOT made. Ask the customer first.",
    });
    expect(await guard({ ...call, tool: "search" })).toBeUndefined();
  });

  it("take the gate's own grant for a confirmation by the user, once", async () => {
    const { guard } = guardWith(refundRule());
    const granted = { ...call, granted: true, consents: [grant] };
    expect(await guard(granted)).toBeUndefined();
    expect(await guard(granted)).toMatchObject({ code: "already_used" });
    expect(await guard({ ...granted, consents: [{ ...grant, ref: "p-2" }] })).toBeUndefined();
  });

  it("do not take it where a reviewer has to look, and say that one may be asked", async () => {
    const { guard } = guardWith(refundRule({ on_missing: "request_approval" }));
    const granted = { ...call, granted: true, consents: [grant] };
    expect(await guard(granted)).toMatchObject({ code: "kind_not_accepted", awaitsApproval: true });
    const approved = { ...granted, consents: [grant, { by: "reviewer", ref: "apr-1", at: Date.now() }] } as const;
    expect(await guard(approved)).toBeUndefined();
  });

  it("do not ask a reviewer twice about one call, nor about too many of one conversation", async () => {
    const { guard } = guardWith(refundRule({ on_missing: "request_approval" }));
    const store = createApprovalStore({ redis, prefix });
    const parked = (id: string, of: string) =>
      parkedApproval(id, { session: call.session, tool: call.tool, fingerprint: of });
    await store.request(parked("apr-1", fingerprint(call.tool, call.args)));
    expect(await guard(call)).toMatchObject({ code: "approval_waits" });
    expect(await guard({ ...call, args: {} })).toMatchObject({ code: "no_match", awaitsApproval: true });
    for (let n = 0; n < 19; n++) await store.request(parked(`apr-x${n}`, `f${n}`));
    expect(await guard({ ...call, args: {} })).toMatchObject({ code: "approval_waits" });
  });

  it("take what an app recorded in the same Redis", async () => {
    const { guard } = guardWith(refundRule());
    const { createLedger } = await import("../../../src/app/ledger.js");
    const ledger = createLedger({ redis: { url: String(redis.options.path), prefix } });
    await ledger.withContext({ sessionId: call.session }, async () => {
      expect(await ledger.confirmToolCall({ toolName: call.tool, args: call.args })).toEqual({ recorded: true });
    });
    expect(await guard(call)).toBeUndefined();
    expect(await guard(call)).toMatchObject({ code: "already_used" });
    await ledger.close();
  });

  it("let everything pass under observe, and count what they would have stopped", async () => {
    const { guard, read } = guardWith(refundRule({ mode: "observe" }));
    for (let n = 0; n < 3; n++) expect(await guard(call)).toBeUndefined();
    expect(await guard({ ...call, granted: true, consents: [grant] })).toBeUndefined();
    await vi.waitFor(async () => expect(await read()).toEqual({ no_match: 3, confirmed: 1 }));
  });

  it("block nothing while the ledger is off, and count that", async () => {
    vi.stubEnv("DALE_CONFIRMATION_LEDGER", "off");
    const { guard, read } = guardWith(refundRule());
    expect(await guard(call)).toBeUndefined();
    await vi.waitFor(async () => expect(await read()).toEqual({ no_confirmation_data: 1 }));
  });

  it("are warned of at the start where they could not compare what they found", async () => {
    const policies = readPolicies({ require_confirmation: [{ tools: ["a"] }, { tools: ["b"] }] });
    const counts = createPolicyCounts({ redis, prefix });
    const blind = policies.rules[1]?.id ?? "";
    await counts.add([
      { rule: policies.rules[0]?.id ?? "", reason: "no_match" },
      { rule: blind, reason: "not_comparable" },
      { rule: blind, reason: "not_comparable" },
    ]);
    const warned: unknown[] = [];
    await warnOfBlindRules(policies, counts, { warn: (fields: object) => void warned.push(fields) });
    expect(warned).toEqual([{ rule: blind, tools: ["b"], times: 2 }]);
  });

  it("let no enforced call pass while Redis is away", async () => {
    const { guard } = guardWith(refundRule());
    redis.disconnect();
    await sleep(10);
    await expect(guard(call)).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(guard({ ...call, granted: true, consents: [grant] })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(await guard({ ...call, tool: "search" })).toBeUndefined();
  });
});
