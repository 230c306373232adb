import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EvidenceEntry, EvidenceJournal } from "../../../src/evidence/index.js";
import type { Confirmation } from "../../../src/ledger/index.js";
import {
  createDeliveryStore,
  createEvidenceJournal,
  createRedisLedgerStore,
  createRedisSlotStore,
} from "../../../src/store/index.js";
import { outboundPart } from "../../contracts/delivery-store.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";
import { slotEvents } from "../../fixtures/slot-events.js";

describe("the evidence's journal", () => {
  const session = "telegram:bot:7:7";
  let redis: Redis;
  let prefix: string;
  let journal: EvidenceJournal;
  beforeEach(() => {
    redis = testRedis();
    prefix = testPrefix();
    journal = createEvidenceJournal({ redis, prefix });
  });
  afterEach(() => redis.disconnect());

  const propose = async (id: string, to = session, at = 10_000) => {
    const { proposal } = slotEvents(id);
    await createRedisSlotStore({ redis, prefix }).apply(to, {
      type: "propose",
      proposal: { ...proposal, proposedAt: at, expiresAt: at + 1_000 },
    });
  };
  const keys = () => redis.keys(`${prefix.replace(/[{}]/g, "?")}:evidence*`);

  it("keeps every transition of a message that carries a notice, and lists it when asked to", async () => {
    const deliveries = createDeliveryStore({ redis, prefix });
    const part = { ...outboundPart("t-1", 1, 1), notice: { proposal: "p-1", expiresAt: 99_000, from: 0 } };
    await deliveries.apply(part.id, { type: "queued", part, at: 1_000 });
    await deliveries.apply(part.id, { type: "sending", part, ref: "m-1", at: 2_000 });
    await deliveries.apply(part.id, { type: "accepted", ref: "m-1", sentAt: 1_900, at: 3_000 });
    const receipt = { ref: "m-1", level: "read", at: 4_000, receivedAt: 4_100 } as const;
    await deliveries.apply(part.id, { type: "receipt", receipt });
    await deliveries.apply(part.id, { type: "receipt", receipt });
    const found = await journal.list({ proposal: "p-1", all: true });
    expect(found.map(({ at, type, detail }) => [at, type, detail.state, detail.platformAt])).toEqual([
      [1_000, "delivery", "queued", undefined],
      [2_000, "delivery", "sending", undefined],
      [3_000, "delivery", "accepted", 1_900],
      [4_100, "delivery", "read", 4_000],
    ]);
    expect(await journal.list({ proposal: "p-1" })).toEqual([]);
    expect(await journal.list({ session: part.session })).toEqual([]);
  });

  it("keeps nothing of messages without a notice", async () => {
    const part = outboundPart("t-1", 1, 1);
    await createDeliveryStore({ redis, prefix }).apply(part.id, { type: "queued", part, at: 1_000 });
    expect(await keys()).toEqual([]);
  });

  it("finds the newest entries behind any number of deliveries", async () => {
    await propose("p-1");
    const deliveries = createDeliveryStore({ redis, prefix });
    for (let n = 0; n < 600; n++) {
      const part = { ...outboundPart(`t-${n}`, 1, 1), session, notice: { proposal: "p-1", expiresAt: 1, from: 0 } };
      await deliveries.apply(part.id, { type: "queued", part, at: 1_000 });
    }
    expect((await journal.list({ session, limit: 5 })).map(({ type }) => type)).toEqual(["proposed"]);
  });

  it("hands out what waits, oldest session first, and lists a session as long as something of it waits", async () => {
    await propose("p-2", "telegram:bot:8:8", 20_000);
    await propose("p-1", session, 10_000);
    await propose("p-3", session, 30_000);
    expect(await journal.backlog()).toEqual({ sessions: 2, since: 10_000 });
    expect(await journal.sessions(10)).toEqual([session, "telegram:bot:8:8"]);
    const [ours = [], theirs = []] = await journal.waiting([session, "telegram:bot:8:8"], 10);
    expect(ours.map(({ entry }) => `${entry?.proposal} ${entry?.type}`)).toEqual([
      "p-1 proposed",
      "p-1 expired",
      "p-3 proposed",
    ]);
    expect(theirs).toHaveLength(1);

    await journal.forget(session, [ours[0]?.place ?? ""]);
    expect(await journal.sessions(10)).toContain(session);
    await journal.forget(
      session,
      ours.slice(1).map(({ place }) => place),
    );
    expect(await journal.sessions(10)).toEqual(["telegram:bot:8:8"]);
    await journal.forget(
      "telegram:bot:8:8",
      theirs.map(({ place }) => place),
    );
    expect(await journal.backlog()).toEqual({ sessions: 0 });
    expect(await keys()).toEqual([]);
  });

  it("does not forget what came while the rest was archived", async () => {
    await propose("p-1");
    const [[first] = []] = await journal.waiting([session], 10);
    await propose("p-2", session, 20_000);
    await journal.forget(session, [first?.place ?? ""]);
    expect(await journal.sessions(10)).toEqual([session]);
    expect((await journal.list({ session })).map(({ proposal }) => proposal)).toEqual(["p-1", "p-2"]);
  });

  it("takes a session off the list that has nothing left", async () => {
    await redis.zadd(`${prefix}:evidence-sessions`, 1, session);
    await journal.forget(session, []);
    expect(await journal.sessions(10)).toEqual([]);
  });

  it("leaves what it cannot read where it is, and says so", async () => {
    await propose("p-1");
    await redis.xadd(`${prefix}:evidence:${session}`, "*", "id", "x", "json", '{"version":2}');
    const [waiting = []] = await journal.waiting([session], 10);
    expect(waiting.map(({ entry }) => (entry as EvidenceEntry | undefined)?.type)).toEqual(["proposed", undefined]);
  });

  it("keeps what an app recorded in the ledger, where somebody takes it to an archive, and nothing elsewhere", async () => {
    const ledger = createRedisLedgerStore({ redis, prefix });
    const confirmation = (id: string): Confirmation => ({
      version: 1,
      id,
      tool: "issue_refund",
      kind: "confirmation",
      outcome: "approved",
      role: "user",
      ref: `ref-${id}`,
      at: 1_000,
      binding: { to: "arguments", scheme: "sha256", hash: "ab12", fields: {}, only: false },
    });
    const told = (id: string) => ({ confirmation: confirmation(id), rule: "rule-1" });
    await ledger.record(`session:${session}`, confirmation("c-0"));
    expect(await keys()).toEqual([]);
    await journal.keep();
    await ledger.record(`session:${session}`, confirmation("c-1"));
    await ledger.record("trace:abc", confirmation("c-2"));
    expect(await ledger.use(`session:${session}`, [{ id: "c-1", ref: "ref-c-1", told: told("c-1") }], 2_000)).toBe(
      true,
    );
    expect(await ledger.use(`session:${session}`, [{ id: "c-1", ref: "ref-c-1" }], 3_000)).toBe(false);
    expect(await ledger.use(`session:${session}`, [{ ref: "ref-c-9", told: told("c-9") }], 4_000)).toBe(true);
    const found = await journal.list({ session, all: true });
    expect(found.map(({ at, type, tool, detail }) => [at, type, tool, detail.confirmation, detail.ref])).toEqual([
      [1_000, "confirmation", "issue_refund", "c-1", "ref-c-1"],
      [2_000, "confirmation_used", "issue_refund", "c-1", "ref-c-1"],
      [4_000, "confirmation_used", "issue_refund", undefined, "ref-c-9"],
    ]);
    expect(found.map(({ argsHash, detail }) => [argsHash, detail.kind, detail.outcome, detail.rule])).toEqual([
      ["ab12", "confirmation", "approved", undefined],
      ["ab12", "confirmation", "approved", "rule-1"],
      ["ab12", "confirmation", "approved", "rule-1"],
    ]);
    expect(await journal.list({ session })).toEqual([]);
    expect(await journal.list({ session: "trace:abc", all: true })).toHaveLength(1);
  });

  it("goes to one archive for ever", async () => {
    expect(await journal.archive()).toBeUndefined();
    expect(await journal.archive("one")).toBe("one");
    expect(await journal.archive("two")).toBe("one");
  });
});
