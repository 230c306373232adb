import { expect, it } from "vitest";
import { createRedisLedgerStore } from "../../src/store/index.js";
import { testPrefix, testRedis } from "../fixtures/redis.js";
import { ledgerStoreContract } from "./ledger-store.js";

ledgerStoreContract("redis", async () => {
  const prefix = testPrefix();
  const connections = [testRedis()];
  return {
    open() {
      const redis = testRedis();
      connections.push(redis);
      return createRedisLedgerStore({ redis, prefix });
    },
    async close() {
      for (const redis of connections) redis.disconnect();
    },
  };
});

const kept = {
  version: 1,
  id: "c-1",
  tool: "t",
  kind: "confirmation",
  outcome: "approved",
  role: "user",
  ref: "m-1",
  at: Date.now(),
  binding: { to: "tool" },
} as const;

it("leaves nothing in Redis for ever but that a ref is spent", async () => {
  const redis = testRedis();
  const prefix = testPrefix();
  const store = createRedisLedgerStore({ redis, prefix });
  await store.record("session:s", kept);
  await store.use("session:s", [{ id: "c-1", ref: "m-1" }], Date.now());
  const keys = await redis.keys(`${prefix.replace(/[{}]/g, "?")}:*`);
  expect(keys).toHaveLength(3);
  for (const key of keys) {
    const ttl = await redis.pttl(key);
    if (key === `${prefix}:ledger:ref:m-1`) expect(ttl).toBe(-1);
    else expect(ttl).toBeGreaterThan(0);
  }
  redis.disconnect();
});

it("refuses a confirmation of a version that it does not know", async () => {
  const redis = testRedis();
  const prefix = testPrefix();
  const store = createRedisLedgerStore({ redis, prefix });
  await redis.lpush(`${prefix}:ledger:kept:session:s`, JSON.stringify({ ...kept, version: 2 }));
  const query = { scope: "session:s", tool: "t", carried: [], since: 0, limit: 10 };
  await expect(store.find(query)).rejects.toMatchObject({ code: "store_version" });
  redis.disconnect();
});

it("says so when Redis is away", async () => {
  const redis = testRedis();
  const store = createRedisLedgerStore({ redis, prefix: testPrefix() });
  redis.disconnect();
  await expect(store.record("session:s", kept)).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
  await expect(store.use("session:s", [{ id: "c-1" }], 1)).rejects.toMatchObject({ code: "store_unavailable" });
});
