import type { Candidate, Confirmation, LedgerStore } from "../ledger/index.js";
import { keptMs, mostOfSession, newestOfTool } from "../ledger/index.js";
import { parseRecord } from "./record.js";
import { createScript, reachingRedis, type Shard } from "./script.js";

/** Ms for which it is remembered that a confirmation was used: longer than it can be found. */
const usedTtlMs = 2 * keptMs;
/** Ms for which a ref is remembered as used: longer than anybody retries a job. */
const refTtlMs = 30 * 24 * 3_600_000;

/** KEYS: confirmations. ARGV: confirmation, how many are kept, ttl. */
const recordScript = createScript(`
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`);

/**
 * KEYS: used confirmations (sorted by the time of use), then the keys of refs.
 * ARGV: now, ttl of the used, ttl of a ref, then ids. All or nothing.
 */
const useScript = createScript(`
for i = 4, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then return 0 end
end
for i = 2, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end
end
for i = 4, #ARGV do redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i]) end
if #ARGV > 3 then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
for i = 2, #KEYS do redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[3]) end
return 1`);

/** Confirmations that all processes share. */
export function createRedisLedgerStore({ redis, prefix }: Shard): LedgerStore {
  const keys = {
    kept: (scope: string) => `${prefix}:ledger:kept:${scope}`,
    used: (scope: string) => `${prefix}:ledger:used:${scope}`,
    ref: (scope: string, ref: string) => `${prefix}:ledger:ref:${scope}:${ref}`,
  };
  const parse = (json: string) => parseRecord<Confirmation>(json, "confirmation");

  return {
    async record(scope, confirmation) {
      const args = [JSON.stringify(confirmation), mostOfSession, keptMs];
      await recordScript.run(redis, "recording a confirmation", [keys.kept(scope)], args);
    },
    find: (query) =>
      reachingRedis("looking for confirmations", async () => {
        const { scope } = query;
        const kept = await redis.lrange(keys.kept(scope), 0, mostOfSession - 1);
        const found = newestOfTool(kept.map(parse), query);
        if (found.length === 0) return [];
        const refs = [...new Set(found.flatMap(({ ref }) => (ref === undefined ? [] : [ref])))];
        const [scores, spent] = await Promise.all([
          redis.zmscore(keys.used(scope), ...found.map(({ id }) => id)),
          refs.length === 0 ? [] : redis.mget(refs.map((ref) => keys.ref(scope, ref))),
        ]);
        const used = new Set(refs.filter((_, index) => spent[index] !== null));
        return found.map(
          (each, index): Candidate => ({
            ...each,
            used: scores[index] !== null || (each.ref !== undefined && used.has(each.ref)),
          }),
        );
      }),
    async use(scope, uses, at) {
      const ids = uses.flatMap(({ id }) => (id === undefined ? [] : [id]));
      const refs = uses.flatMap(({ ref }) => (ref === undefined ? [] : [keys.ref(scope, ref)]));
      const used = await useScript.run(
        redis,
        "using a confirmation",
        [keys.used(scope), ...new Set(refs)],
        [at, usedTtlMs, refTtlMs, ...ids],
      );
      return used === 1;
    },
    async close() {},
  };
}
