import type { Redis } from "ioredis";
import { DaleError } from "../errors/index.js";
import type { StoreLogger } from "./logger.js";
import { reachingRedis } from "./script.js";

/** LPOS and SET KEEPTTL came earlier; BullMQ recommends this one. Valkey reports a version of its own and is newer. */
const oldest = [6, 2] as const;

/**
 * Looks at Redis' own account of itself. Refuses what would lose messages (eviction, a version that is too old), warns
 * of what would lose them in a power failure (no AOF).
 * @throws DaleError `store_unfit`
 */
export async function inspectServer(redis: Redis, logger: StoreLogger): Promise<void> {
  const facts = parseInfo(await reachingRedis("info", () => redis.info()));
  const version = facts.get("redis_version") ?? "";
  if (isTooOld(version)) {
    throw new DaleError("store_unfit", `Redis ${version} is too old: Dale needs ${oldest.join(".")} or later.`);
  }
  const policy = facts.get("maxmemory_policy");
  if (policy !== undefined && policy !== "noeviction") {
    const advice = `Redis has maxmemory-policy ${policy} and may throw queued messages away; set it to noeviction.`;
    if (facts.get("maxmemory") !== "0") throw new DaleError("store_unfit", advice);
    logger.warn({ policy }, advice);
  }
  if (facts.get("aof_enabled") === "0") {
    logger.warn({}, "Redis keeps no append-only file: a crash of Redis loses messages. Set appendonly yes.");
  }
}

function parseInfo(info: string): ReadonlyMap<string, string> {
  const facts = new Map<string, string>();
  for (const line of info.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0) facts.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return facts;
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
}
