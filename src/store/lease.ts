import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { Lease } from "../channels/index.js";
import { createScript } from "./script.js";

/**
 * KEYS: lease, fence. ARGV: holder, ttl. The new fence, or nothing when somebody holds the lease. A request that was
 * sent twice (a connection broke) is answered the same.
 */
const acquireScript = createScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return tonumber(redis.call('GET', KEYS[2])) end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
return redis.call('INCR', KEYS[2])`);

/**
 * KEYS: lease, fence. ARGV: holder, ttl, fence. A holder who comes too late still has the lease while nobody else was
 * given it.
 */
const renewScript = createScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if redis.call('GET', KEYS[2]) ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** KEYS: lease. ARGV: holder. */
const releaseScript = createScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`);

export interface LeaseKeys {
  readonly lease: string;
  /** The last fence that was given out. Never expires. */
  readonly fence: string;
}

/** Renewals in the lifetime of a lease. */
const renewalsPerTtl = 3;

/**
 * A lease that renews itself. It is lost when somebody else was given it, or when its time has passed and at least two
 * renewals in a row found no Redis; a renewal that is merely late (a busy process) loses nothing by itself.
 * Times are measured by this process' own steady clock.
 * @throws DaleError `store_unavailable`
 */
export async function acquireLease(redis: Redis, keys: LeaseKeys, ttlMs: number): Promise<Lease | undefined> {
  const holder = randomUUID();
  const askedAt = performance.now();
  const given = await acquireScript.run(redis, "acquiring a lease", [keys.lease, keys.fence], [holder, ttlMs]);
  if (given === null) return undefined;
  const fence = Number(given);
  const lost = new AbortController();
  const everyMs = ttlMs / renewalsPerTtl;
  let renewedAt = askedAt;
  let failures = 0;
  let ended = false;
  let timer = setTimeout(renew, everyMs);
  timer.unref();

  async function renew(): Promise<void> {
    const startedAt = performance.now();
    const answer = await inTime(
      renewScript.run(redis, "renewing a lease", [keys.lease, keys.fence], [holder, ttlMs, fence]),
      everyMs,
    );
    if (ended) return;
    if (answer === 1) {
      renewedAt = startedAt;
      failures = 0;
    } else {
      failures += 1;
      if (answer === 0 || (failures > 1 && performance.now() - renewedAt >= ttlMs)) {
        ended = true;
        lost.abort();
        return;
      }
    }
    timer = setTimeout(renew, answer === 1 ? everyMs : everyMs / 4);
    timer.unref();
  }

  return {
    fence,
    lost: lost.signal,
    async release() {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      await releaseScript.run(redis, "releasing a lease", [keys.lease], [holder]);
    },
  };
}

/** The answer, or undefined when there is none within `ms` (Redis is away or hangs). */
async function inTime(answer: Promise<unknown>, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
    timer.unref();
  });
  try {
    return await Promise.race([answer.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
