import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, inject, it, vi } from "vitest";
import type { EvidenceReader } from "../../../src/evidence/index.js";
import type { SlotStore } from "../../../src/gate/index.js";
import { createEvidenceJournal, createRedisSlotStore, createUnsettledStore } from "../../../src/store/index.js";
import { startChild, type TestChild } from "../../fixtures/child-process.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";
import { chat, slotEvents } from "../../fixtures/slot-events.js";

describe("two worker processes and one slot each for many people", () => {
  const sessions = Array.from({ length: 300 }, (_, n) => `telegram:bot:${n}:${n}`);
  const part = "out-t-1-1";
  const eventsOf = (session: string, fence = 1) => slotEvents(`p-${session}`, { part, fence });
  const children: TestChild[] = [];
  let redis: Redis;
  let prefix: string;
  let store: SlotStore;
  let evidence: EvidenceReader;

  beforeEach(async () => {
    redis = testRedis();
    prefix = testPrefix();
    store = createRedisSlotStore({ redis, prefix });
    evidence = createEvidenceJournal({ redis, prefix });
    await Promise.all(
      sessions.map(async (session) => {
        for (const event of eventsOf(session).shown) await store.apply(session, event);
      }),
    );
    await redis.set(`${prefix}:tail:${chat}`, part);
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
    redis.disconnect();
  });

  /** Both begin when both are there. */
  async function race(workers: readonly { readonly turn: string; readonly fence: number }[], callMs = 5) {
    const started = await Promise.all(
      workers.map((worker) =>
        startChild("slot-racer.ts", { socket: inject("redisSocket"), prefix, sessions, part, callMs, ...worker }),
      ),
    );
    children.push(...started);
    for (const child of started) expect(await child.message()).toBe("ready");
    for (const child of started) child.process.send("go");
    return started;
  }
  const effects = async () => (await redis.mget(sessions.map((each) => `${prefix}:effect:${each}`))).map(Number);
  const typesOf = async (session: string) => (await evidence.list({ session })).map((entry) => entry.type);
  const count = (types: readonly string[], type: string) => types.filter((each) => each === type).length;

  it("runs the call once when both work on the same yes", async () => {
    const started = await race([
      { turn: "t-2", fence: 1 },
      { turn: "t-2", fence: 2 },
    ]);
    const results = await Promise.all(started.map((child) => child.message()));
    expect(results).toHaveLength(2);
    expect(Math.max(...(await effects()))).toBe(1);
    for (const session of sessions) {
      const types = await typesOf(session);
      expect(count(types, "granted")).toBe(1);
      expect(count(types, "consumed")).toBeLessThanOrEqual(1);
      expect(count(types, "executed") + count(types, "unknown")).toBeGreaterThanOrEqual(count(types, "consumed"));
    }
  });

  it("runs the call at most once for a double yes, and grants it once", async () => {
    const started = await race([
      { turn: "t-2", fence: 1 },
      { turn: "t-3", fence: 2 },
    ]);
    await Promise.all(started.map((child) => child.message()));
    const ran = await effects();
    expect(Math.max(...ran)).toBe(1);
    for (const [n, session] of sessions.entries()) {
      const types = await typesOf(session);
      expect(count(types, "granted")).toBe(1);
      expect(count(types, "consumed")).toBe(ran[n]);
    }
  });

  it("neither repeats nor hides what a killed process had begun", async () => {
    const [worker] = await race([{ turn: "t-2", fence: 1 }], 2_000);
    await vi.waitFor(async () => expect((await effects()).filter((n) => n === 1).length).toBeGreaterThan(20), {
      timeout: 10_000,
      interval: 5,
    });
    worker?.kill("SIGKILL");
    await worker?.exited;
    const begun = await effects();
    for (const session of sessions) {
      const { message, consume } = eventsOf(session, 2);
      await store.apply(session, message("si", "t-2", 2), chat);
      const again = await store.apply(session, consume("t-2", 2));
      const types = await typesOf(session);
      if (again.kind === "run") expect(count(types, "consumed")).toBe(1);
      if (begun[sessions.indexOf(session)] === 1) expect(again.kind).not.toBe("run");
    }
    const unsettled = (await createUnsettledStore({ redis, prefix }).list(1_000)).map((each) => each.session);
    const unknown: string[] = [];
    for (const session of sessions) if ((await typesOf(session)).includes("unknown")) unknown.push(session);
    expect(unknown.length).toBeGreaterThan(0);
    expect(unsettled.sort()).toEqual(unknown.sort());
  });
});
