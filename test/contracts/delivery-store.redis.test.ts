import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDeliveryStore } from "../../src/store/index.js";
import { testPrefix, testRedis } from "../fixtures/redis.js";
import { deliveryStoreContract, outboundPart } from "./delivery-store.js";

deliveryStoreContract("redis", async () => {
  const prefix = testPrefix();
  const redis = testRedis();
  const opened: Redis[] = [redis];
  return {
    open() {
      const own = testRedis();
      opened.push(own);
      return createDeliveryStore({ redis: own, prefix });
    },
    lastSent: async (chat) => (await redis.get(`${prefix}:tail:${chat}`)) ?? undefined,
    async close() {
      for (const each of opened) each.disconnect();
    },
  };
});

describe("delivery store on redis", () => {
  const days = 24 * 3_600_000;
  let redis: Redis;
  let prefix: string;
  beforeEach(() => {
    redis = testRedis();
    prefix = testPrefix();
  });
  afterEach(() => redis.disconnect());

  it("keeps nothing for ever", async () => {
    const store = createDeliveryStore({ redis, prefix });
    const part = outboundPart("t-1", 1, 1);
    await store.apply(part.id, { type: "sending", part, ref: "m-1", at: 2_000 });
    await store.park("telegram", "bot", { ref: "m-2", level: "read", at: 1, receivedAt: 1 });
    const keys = await redis.keys(`${prefix.replace(/[{}]/g, "?")}:*`);
    expect(keys.length).toBe(8);
    for (const key of keys) {
      const ttl = await redis.pttl(key);
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(
        /:tail(-sender)?:/.test(key) ? 30 * days : key.includes("parked") ? 600_000 : 7 * days,
      );
    }
  });

  it("refuses a record of a version that it does not know, and says when Redis is away", async () => {
    const store = createDeliveryStore({ redis, prefix });
    await redis.set(`${prefix}:delivery:out-t-1-1`, '3.x {"version":2}');
    await expect(store.read("out-t-1-1")).rejects.toMatchObject({ code: "store_version" });
    redis.disconnect();
    const part = outboundPart("t-2", 1, 1);
    const away = expect.objectContaining({ code: "store_unavailable", retryable: true });
    await expect(store.apply(part.id, { type: "queued", part, at: 1_000 })).rejects.toEqual(away);
    await expect(store.park("telegram", "bot", { ref: "m", level: "read", at: 1, receivedAt: 1 })).rejects.toEqual(
      away,
    );
  });
});
