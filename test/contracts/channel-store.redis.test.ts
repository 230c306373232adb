import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ChannelStore } from "../../src/channels/index.js";
import { createRedisChannelStore, createSignals } from "../../src/store/index.js";
import { testPrefix, testRedis } from "../fixtures/redis.js";
import { channelStoreContract } from "./channel-store.js";

/** A process of its own: its own connections, and a store on them. */
function openProcess(prefix: string, opened: Redis[]) {
  const redis = testRedis();
  const subscriber = testRedis();
  opened.push(redis, subscriber);
  const signals = createSignals({ redis, subscriber, prefix });
  const store = (account: string): ChannelStore =>
    createRedisChannelStore({ redis, prefix, signals, channel: "whatsapp", account });
  return { redis, subscriber, store };
}

channelStoreContract("redis", async () => {
  const prefix = testPrefix();
  const opened: Redis[] = [];
  return {
    open: () => openProcess(prefix, opened).store("shop"),
    other: () => openProcess(prefix, opened).store("other"),
    async close() {
      for (const redis of opened) redis.disconnect();
    },
  };
});

describe("channel store on redis", () => {
  const opened: Redis[] = [];
  let prefix: string;
  beforeEach(() => {
    prefix = testPrefix();
  });
  afterEach(() => {
    for (const redis of opened.splice(0)) redis.disconnect();
  });

  it("tells a holder that somebody else was given the lease", async () => {
    const { redis, store } = openProcess(prefix, opened);
    const first = await store("shop").acquireLease(150);
    await redis.del(`${prefix}:channel:whatsapp:shop:lease`);
    const second = await openProcess(prefix, opened).store("shop").acquireLease(5_000);
    expect(second?.fence).toBeGreaterThan(first?.fence ?? 0);
    await vi.waitFor(() => expect(first?.lost.aborted).toBe(true));
    expect(second?.lost.aborted).toBe(false);
    await first?.release();
    expect(await store("shop").acquireLease(5_000)).toBeUndefined();
    await second?.release();
  });

  it("keeps a lease whose renewal was late while nobody else asked for it", async () => {
    const { redis, store } = openProcess(prefix, opened);
    const lease = await store("shop").acquireLease(120);
    await redis.del(`${prefix}:channel:whatsapp:shop:lease`);
    await vi.waitFor(async () => expect(await redis.exists(`${prefix}:channel:whatsapp:shop:lease`)).toBe(1));
    expect(lease?.lost.aborted).toBe(false);
    expect(await store("shop").fenced.write(lease?.fence ?? 0, { creds: "x" })).toBe(true);
    await lease?.release();
  });

  it("gives a lease up when Redis stays away for longer than its time", async () => {
    const { redis, store } = openProcess(prefix, opened);
    const lease = await store("shop").acquireLease(150);
    redis.disconnect();
    await vi.waitFor(() => expect(lease?.lost.aborted).toBe(true));
  });

  it("frees the lease of a process that died", async () => {
    const dead = openProcess(prefix, opened);
    await dead.store("shop").acquireLease(100);
    dead.redis.disconnect();
    const { store } = openProcess(prefix, opened);
    await vi.waitFor(async () => expect(await store("shop").acquireLease(5_000)).toBeDefined(), { timeout: 5_000 });
  });

  it("hands a follower what it missed while its connection was lost, once and in order", async () => {
    const follower = openProcess(prefix, opened);
    const writer = openProcess(prefix, opened);
    const seen: string[] = [];
    const stop = await follower.store("shop").log.follow(
      "chat",
      (entry) => void seen.push(entry.value),
      () => {},
    );
    const written: string[] = [];
    const append = async (value: string) => {
      written.push(value);
      await writer.store("shop").log.append("chat", value);
    };
    await append("before");
    await vi.waitFor(() => expect(seen).toEqual(written));
    follower.subscriber.disconnect(true);
    for (let n = 0; n < 20; n++) await append(`away ${n}`);
    await vi.waitFor(() => expect(seen.length).toBeGreaterThan(1));
    await append("after");
    await vi.waitFor(() => expect(seen).toEqual(written));
    stop();
  });

  it("refuses with store_unavailable when Redis is away", async () => {
    const { redis, store } = openProcess(prefix, opened);
    redis.disconnect();
    const away = expect.objectContaining({ code: "store_unavailable" });
    await expect(store("shop").get("offset")).rejects.toEqual(away);
    await expect(store("shop").set("offset", "1")).rejects.toEqual(away);
    await expect(store("shop").acquireLease(1_000)).rejects.toEqual(away);
    await expect(store("shop").fenced.write(1, { a: "b" })).rejects.toEqual(away);
    await expect(store("shop").log.append("chat", "x")).rejects.toEqual(away);
    await expect(store("shop").log.signal("chat", "x")).rejects.toEqual(away);
  });
});
