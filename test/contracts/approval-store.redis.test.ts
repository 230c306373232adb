import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ApprovalStore } from "../../src/ledger/index.js";
import { createApprovalStore, createEvidenceJournal, createUnsettledStore } from "../../src/store/index.js";
import { consume, decide, minute, parkedApproval, settle } from "../fixtures/approvals.js";
import { testPrefix, testRedis } from "../fixtures/redis.js";

let redis: Redis;
let other: Redis;
let prefix: string;
let store: ApprovalStore;
let elsewhere: ApprovalStore;

beforeEach(() => {
  redis = testRedis();
  other = testRedis();
  prefix = testPrefix();
  store = createApprovalStore({ redis, prefix });
  elsewhere = createApprovalStore({ redis: other, prefix });
});
afterEach(() => {
  redis.disconnect();
  other.disconnect();
});

const parked = parkedApproval("apr-1");
const own = parkedApproval("apr-9", { agent: "", origin: { kind: "app" } });
const types = async () =>
  (await createEvidenceJournal({ redis, prefix }).list({ session: parked.session })).map(
    ({ type, proposal }) => `${proposal} ${type}`,
  );
const waiting = async () => (await store.list("waiting", 10)).map(({ id }) => id);

describe("approvals", () => {
  it("wait for a reviewer, in every process, once", async () => {
    expect(await store.request(parked)).toBe("requested");
    expect(await elsewhere.request({ ...parked, shown: "another text" })).toBe("known");
    expect(await elsewhere.read("apr-1")).toEqual(parked);
    expect(await elsewhere.list("waiting", 10)).toEqual([parked]);
    expect(await store.read("apr-404")).toBeUndefined();
    expect(await store.apply("apr-404", decide("approved"))).toBeUndefined();
  });

  it("go on record with the exact call, what the reviewers see of it, and until when they may decide", async () => {
    await store.request({ ...own, shown: "" });
    const [entry] = await createEvidenceJournal({ redis, prefix }).list({ proposal: "apr-9" });
    expect(entry?.detail).toEqual({
      approval: true,
      args: own.args,
      shows: "praxis_crear_record with entidad: cob_acuerdo, monto: 184000",
      expiresAt: own.expiresAt,
    });
  });

  it("are decided once, when two reviewers decide at once", async () => {
    await store.request(parked);
    const decided = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? store : elsewhere).apply("apr-1", decide(n % 2 === 0 ? "approved" : "rejected", 2_000, `r${n}`)),
      ),
    );
    const winners = decided.filter((each) => each?.outcome === "done");
    expect(winners).toHaveLength(1);
    expect((await elsewhere.read("apr-1"))?.current).toEqual(winners[0]?.approval.current);
    expect(await types()).toHaveLength(2);
  });

  it("leave the waiting ones when they are decided, and are listed as over, the newest first", async () => {
    const more = parkedApproval("apr-2", { fingerprint: "f2", requestedAt: 1_500 });
    const third = parkedApproval("apr-3", { fingerprint: "f3", requestedAt: 500 });
    for (const each of [parked, more, third]) await store.request(each);
    expect(await waiting()).toEqual(["apr-3", "apr-1", "apr-2"]);
    await store.apply("apr-1", decide("approved", 2_000));
    await store.apply("apr-3", decide("rejected", 3_000));
    expect(await waiting()).toEqual(["apr-2"]);
    expect((await store.list("over", 10)).map(({ id }) => id)).toEqual(["apr-3", "apr-1"]);
    expect(await store.list("over", 1)).toHaveLength(1);
  });

  it("are open for their session until their call is over: the same call is not requested twice", async () => {
    await store.request(parked);
    expect(await store.request(parkedApproval("apr-2"))).toBe("open");
    expect(await store.request(parkedApproval("apr-3", { session: "telegram:bot:8:8" }))).toBe("requested");
    expect(await store.request(parkedApproval("apr-4", { fingerprint: "other" }))).toBe("requested");
    expect((await store.openOf(parked.session)).toSorted()).toEqual([parked.fingerprint, "other"].toSorted());
    await store.apply("apr-1", decide("approved"));
    await store.apply("apr-1", consume(1));
    expect(await store.request(parkedApproval("apr-2"))).toBe("open");
    await store.apply("apr-1", settle(1));
    await store.apply("apr-4", decide("rejected"));
    expect(await store.openOf(parked.session)).toEqual([]);
    expect(await store.request(parkedApproval("apr-2"))).toBe("requested");
  });

  it("of an app are never in the way of a turn's, nor of each other", async () => {
    expect(await store.request(own)).toBe("requested");
    expect(await store.request({ ...own, id: "apr-10" })).toBe("requested");
    expect(await store.request(parked)).toBe("requested");
    await store.apply("apr-9", decide("approved"));
    expect(await store.openOf(parked.session)).toEqual([parked.fingerprint]);
    expect(await store.answered(10)).toEqual([]);
  });

  it("are due when nobody decided in their time", async () => {
    await store.request(parked);
    expect(await store.due(parked.expiresAt - 1, 10)).toEqual([]);
    expect(await store.due(parked.expiresAt, 10)).toEqual(["apr-1"]);
    const { outcome } = (await store.apply("apr-1", { type: "expire", withdrawn: false, at: parked.expiresAt })) ?? {};
    expect(outcome).toBe("done");
    expect(await store.due(parked.expiresAt + minute, 10)).toEqual([]);
  });

  it("stay on the list of the answered until they were handed over", async () => {
    await store.request(parked);
    expect(await store.answered(10)).toEqual([]);
    await store.apply("apr-1", decide("rejected"));
    expect(await elsewhere.answered(10)).toEqual(["apr-1"]);
    await elsewhere.handedOver("apr-1");
    expect(await store.answered(10)).toEqual([]);
  });

  it("are used up once, whoever asks", async () => {
    await store.request(parked);
    await store.apply("apr-1", decide("approved"));
    const asked = await Promise.all(
      Array.from({ length: 8 }, (_, n) => (n % 2 ? store : elsewhere).apply("apr-1", consume(1))),
    );
    expect(asked.filter((each) => each?.outcome === "run")).toHaveLength(1);
    expect(asked.filter((each) => each?.outcome === "running")).toHaveLength(7);
  });

  it("write the evidence of each step with it", async () => {
    await store.request(parked);
    await store.apply("apr-1", decide("approved"));
    await store.apply("apr-1", consume(1));
    await store.apply("apr-1", settle(1));
    expect(await types()).toEqual(["apr-1 proposed", "apr-1 granted", "apr-1 consumed", "apr-1 executed"]);
    const entries = await createEvidenceJournal({ redis, prefix }).list({ proposal: "apr-1" });
    expect(entries[1]).toMatchObject({
      at: 2_000,
      session: parked.session,
      agent: "cobranzas",
      tool: "praxis_crear_record",
      argsHash: parked.fingerprint,
      detail: { consent: "human_review", by: "ana", comment: "checked" },
    });
  });

  it("stand among the unsettled when nobody knows how they ended, and leave it when somebody does", async () => {
    await store.request(parked);
    await store.apply("apr-1", decide("approved"));
    await store.apply("apr-1", consume(1));
    await store.apply("apr-1", consume(2));
    const unsettled = createUnsettledStore({ redis, prefix });
    expect(await unsettled.list(10)).toMatchObject([
      { proposal: "apr-1", notice: parked.shown, session: parked.session },
    ]);
    expect((await store.apply("apr-1", settle(1)))?.outcome).toBe("done");
    expect(await unsettled.list(10)).toEqual([]);
    expect((await types()).slice(-2)).toEqual(["apr-1 unknown", "apr-1 executed"]);
  });

  it("of no session leave no evidence, and are answered all the same", async () => {
    await store.request({ ...own, session: "" });
    expect((await store.apply("apr-9", decide("approved")))?.outcome).toBe("done");
    expect(await redis.keys(`${prefix.replace(/[{}]/g, "?")}:evidence*`)).toEqual([]);
  });

  it("leave nothing in Redis for ever but their lists", async () => {
    await store.request(parked);
    await store.apply("apr-1", decide("rejected"));
    expect(await redis.pttl(`${prefix}:approval:apr-1`)).toBeGreaterThan(7 * 24 * 60 * minute);
    await store.request(parkedApproval("apr-2"));
    expect(await redis.pttl(`${prefix}:approvals:open:${parked.session}`)).toBeGreaterThan(0);
  });

  it("whose record is gone are not due for ever", async () => {
    await store.request(parked);
    await redis.del(`${prefix}:approval:apr-1`);
    expect(await store.list("waiting", 10)).toEqual([]);
    expect(await store.apply("apr-1", decide("approved"))).toBeUndefined();
    expect(await store.due(parked.expiresAt, 10)).toEqual([]);
  });

  it("are refused in a version that is not known, and while Redis is away", async () => {
    await redis.set(`${prefix}:approval:apr-7`, '1.x {"version":2}');
    await expect(store.read("apr-7")).rejects.toMatchObject({ code: "store_version" });
    redis.disconnect();
    await expect(store.request(parked)).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(store.apply("apr-1", consume(1))).rejects.toMatchObject({ code: "store_unavailable" });
  });
});
