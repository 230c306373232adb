import { beforeEach, describe, expect, inject, it } from "vitest";
import { createLedger } from "../../../src/app/ledger.js";
import { startChild } from "../../fixtures/child-process.js";
import { refundRule } from "../../fixtures/ledger.js";
import { testPrefix } from "../../fixtures/redis.js";
import { startRedisServer } from "../../fixtures/redis-server.js";

const call = { toolName: "issue_refund", args: { order_id: "A-1", amount: 50 } };
const context = { sessionId: "s-1" };
let redis: { readonly url: string; readonly prefix: string };
beforeEach(() => {
  redis = { url: inject("redisSocket"), prefix: testPrefix() };
});

/** What a process of its own comes to. */
async function elsewhere(given: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const child = await startChild("ledger-checker.ts", { ...redis, context, call, checks: 1, ...given });
  const [reasons] = await Promise.all([child.message(), child.exited]);
  return reasons as readonly string[];
}

describe("a ledger in Redis", () => {
  it("lets one of many checks of many processes use a confirmation", async () => {
    const ledger = createLedger({ redis });
    await ledger.withContext(context, () => ledger.confirmToolCall(call));
    const reasons = (await Promise.all([elsewhere({ checks: 10 }), elsewhere({ checks: 10 })])).flat();
    expect(reasons.filter((reason) => reason === "confirmed")).toHaveLength(1);
    expect(reasons.filter((reason) => reason === "already_used")).toHaveLength(19);
    await ledger.close();
  });

  it("spends a carried confirmation once, whichever process retries the job", async () => {
    const carried = { ...context, confirmations: [{ ...call, ref: "m-1", ageMs: 1000 }] };
    expect(await elsewhere({ context: carried })).toEqual(["confirmed"]);
    expect(await elsewhere({ context: carried })).toEqual(["already_used"]);
  });

  it("cannot compare what another process hashed with its own key, and blocks nothing for it", async () => {
    expect(await elsewhere({ redactPii: true, confirm: true, checks: 0 })).toEqual([]);
    expect(await elsewhere({ redactPii: true, checks: 2 })).toEqual(["not_comparable", "not_comparable"]);
    expect(await elsewhere({ checks: 1 })).toEqual(["not_comparable"]);
    expect(await elsewhere({ redactPii: true, confirm: true, checks: 2 })).toEqual(["confirmed", "not_comparable"]);
  });

  it("allows no enforced call while Redis is away, and goes on when it is back", async () => {
    const server = await startRedisServer();
    const ledger = createLedger({ redis: { url: server.url } });
    const check = (mode: "enforce" | "observe") =>
      ledger.withContext(context, () => ledger.checkToolCall(call, { policies: refundRule({ mode }) }));
    await ledger.withContext(context, () => ledger.confirmToolCall(call));
    await server.kill();
    expect(await check("enforce")).toEqual({ allowed: false, reason: "store_unavailable", mode: "enforce" });
    expect(await check("observe")).toEqual({ allowed: true, reason: "store_unavailable", mode: "observe" });
    const recorded = await ledger.withContext(context, () => ledger.confirmToolCall(call));
    expect(recorded).toEqual({ recorded: true, reason: "store_unavailable" });
    await server.start();
    await expect
      .poll(() => check("enforce"), { timeout: 10_000 })
      .toMatchObject({ allowed: true, reason: "confirmed" });
    await ledger.close();
    await server.remove();
  });

  it("that never answers fails closed, at the first use and at every later one", async () => {
    const ledger = createLedger({ redis: { url: "redis://127.0.0.1:1" } });
    const verdict = await ledger.withContext(context, () => ledger.checkToolCall(call, { policies: refundRule() }));
    expect(verdict).toMatchObject({ allowed: false, reason: "store_unavailable" });
    await ledger.close();
    const closed = await ledger.withContext(context, () => ledger.checkToolCall(call, { policies: refundRule() }));
    expect(closed).toMatchObject({ allowed: false, reason: "store_unavailable" });
  });
});
