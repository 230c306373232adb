import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRunSecrets } from "../../../src/store/index.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";

describe("credentials of a run that waits", () => {
  const credentials = { praxis_main: { base_url: "https://erp.example", token: "tok-very-secret-value" } };
  const key = randomBytes(32);
  let redis: Redis;
  let prefix: string;
  beforeEach(() => {
    redis = testRedis();
    prefix = testPrefix();
  });
  afterEach(() => redis.disconnect());

  const kept = async () => {
    const keys = await redis.keys(`${prefix.replace(/[{}]/g, "?")}:*`);
    return await Promise.all(keys.map(async (name) => ({ name, value: (await redis.getBuffer(name)) ?? Buffer.of() })));
  };

  it("are read as often as the run is repeated, and taken once", async () => {
    const secrets = createRunSecrets({ redis, prefix, key });
    const handle = await secrets.put("t-1", credentials);
    expect(handle).toMatch(/^t-1\.[\w-]{22}$/);
    expect(await secrets.read(handle)).toEqual(credentials);
    expect(await createRunSecrets({ redis, prefix, key }).read(handle)).toEqual(credentials);
    expect(await secrets.take(handle)).toEqual(credentials);
    expect(await secrets.take(handle)).toBeUndefined();
    expect(await secrets.read(handle)).toBeUndefined();
    expect(await kept()).toEqual([]);
  });

  it("are never plain in Redis", async () => {
    await createRunSecrets({ redis, prefix, key }).put("t-1", credentials);
    const [entry] = await kept();
    const readable = `${entry?.name} ${entry?.value.toString("latin1")}`;
    for (const secret of ["tok-very-secret-value", "erp.example", "praxis_main"]) {
      expect(readable).not.toContain(secret);
      expect(readable).not.toContain(Buffer.from(secret).toString("base64").slice(0, 8));
    }
  });

  it("are gone after a quarter of an hour", async () => {
    const handle = await createRunSecrets({ redis, prefix, key }).put("t-1", credentials);
    const ttl = await redis.pttl(`${prefix}:secret:${handle}`);
    expect(ttl).toBeGreaterThan(14 * 60_000);
    expect(ttl).toBeLessThanOrEqual(15 * 60_000);
    const short = createRunSecrets({ redis, prefix, key, ttlMs: 20 });
    const fleeting = await short.put("t-2", credentials);
    await vi.waitFor(async () => expect(await short.read(fleeting)).toBeUndefined());
  });

  it("cannot be opened with another key, under another handle, or altered", async () => {
    const secrets = createRunSecrets({ redis, prefix, key });
    const handle = await secrets.put("t-1", credentials);
    const unreadable = expect.objectContaining({ code: "secrets_unreadable" });
    await expect(createRunSecrets({ redis, prefix, key: randomBytes(32) }).read(handle)).rejects.toEqual(unreadable);
    const sealed = (await redis.getBuffer(`${prefix}:secret:${handle}`)) ?? Buffer.of();
    await redis.set(`${prefix}:secret:t-2.x`, sealed);
    await expect(secrets.read("t-2.x")).rejects.toEqual(unreadable);
    const altered = Buffer.from(sealed);
    altered.writeUInt8(altered.readUInt8(altered.length - 1) ^ 1, altered.length - 1);
    await redis.set(`${prefix}:secret:${handle}`, altered);
    await expect(secrets.read(handle)).rejects.toEqual(unreadable);
    await redis.set(`${prefix}:secret:${handle}`, sealed.subarray(0, 12));
    await expect(secrets.read(handle)).rejects.toEqual(unreadable);
  });

  it("refuse a version that is not known, and a key that is none", async () => {
    const secrets = createRunSecrets({ redis, prefix, key });
    await redis.set(`${prefix}:secret:t-1.x`, Buffer.of(9, 1, 2, 3));
    await expect(secrets.read("t-1.x")).rejects.toMatchObject({ code: "store_version" });
    expect(() => createRunSecrets({ redis, prefix, key: randomBytes(16) })).toThrow(
      expect.objectContaining({ code: "config_invalid" }),
    );
  });
});
