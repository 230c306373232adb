import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createConversationMemory, createTurnStore } from "../../src/store/index.js";
import { testPrefix, testRedis } from "../fixtures/redis.js";
import { remembered, turnRecord, turnStoreContract } from "./turn-store.js";

turnStoreContract("redis", async () => {
  const prefix = testPrefix();
  const redis = testRedis();
  const opened: Redis[] = [redis];
  return {
    open() {
      const own = testRedis();
      opened.push(own);
      return createTurnStore({ redis: own, prefix });
    },
    memory: createConversationMemory({ redis, prefix }),
    async close() {
      for (const each of opened) each.disconnect();
    },
  };
});

describe("turn store on redis", () => {
  let redis: Redis;
  let prefix: string;
  beforeEach(() => {
    redis = testRedis();
    prefix = testPrefix();
  });
  afterEach(() => redis.disconnect());

  it("commits in one round trip", async () => {
    const store = await createTurnStore({ redis, prefix });
    await store.commit(turnRecord("t-1"), remembered("a"), 1);
    const names: string[] = [];
    const send = redis.sendCommand;
    redis.sendCommand = function (this: Redis, ...args: Parameters<Redis["sendCommand"]>) {
      names.push(args[0].name);
      return send.apply(this, args);
    } as Redis["sendCommand"];
    await store.commit(turnRecord("t-2"), remembered("b"), 1);
    expect(names).toEqual(["evalsha"]);
  });

  it("forgets a conversation after its time", async () => {
    const store = await createTurnStore({ redis, prefix });
    await store.commit(turnRecord("t-1"), { ...remembered("a"), ttlSeconds: 600 }, 1);
    const [key = ""] = await redis.keys(`${prefix.replace(/[{}]/g, "?")}:memory:*`);
    const ttl = await redis.ttl(key);
    expect(ttl).toBeGreaterThan(590);
    expect(ttl).toBeLessThanOrEqual(600);
  });

  it("bounds a session's timeline", async () => {
    const store = await createTurnStore({ redis, prefix });
    for (let n = 0; n < 520; n++) await store.commit(turnRecord(`t-${n}`), undefined, 1);
    const kept = await store.recent({ session: turnRecord("t-0").session, limit: 1_000 });
    expect(kept).toHaveLength(500);
    expect(kept[0]?.id).toBe("t-519");
  });

  it("names sessions by a key of its own: another installation names them otherwise", async () => {
    const store = await createTurnStore({ redis, prefix });
    const elsewhere = await createTurnStore({ redis, prefix: testPrefix() });
    expect(elsewhere.opaque("telegram:bot:7:7")).not.toBe(store.opaque("telegram:bot:7:7"));
  });

  it("refuses a record of a version that it does not know, and says when Redis is away", async () => {
    const store = await createTurnStore({ redis, prefix });
    await redis.set(`${prefix}:turn:t-1`, JSON.stringify({ ...turnRecord("t-1"), version: 2 }));
    await expect(store.read("t-1")).rejects.toMatchObject({ code: "store_version" });
    await redis.rpush(`${prefix}:memory:cobranzas:s`, "[]");
    const memory = createConversationMemory({ redis, prefix });
    await expect(memory.load("s", "cobranzas", 3)).rejects.toMatchObject({ code: "store_version" });
    redis.disconnect();
    const away = expect.objectContaining({ code: "store_unavailable", retryable: true });
    await expect(store.read("t-2")).rejects.toEqual(away);
    await expect(store.read("t-2", 1)).rejects.toEqual(away);
    await expect(store.commit(turnRecord("t-2"), undefined, 1)).rejects.toEqual(away);
    await expect(memory.load("s", "cobranzas", 3)).rejects.toEqual(away);
    await expect(createTurnStore({ redis, prefix })).rejects.toEqual(away);
  });
});
