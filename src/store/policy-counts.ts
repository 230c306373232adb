import { reachingRedis, type Shard } from "./script.js";

/** How often each rule came to which reason, in all processes. */
export interface PolicyCounts {
  add(counts: readonly { readonly rule: string; readonly reason: string }[]): Promise<void>;
  /** Reason → count, of each rule in the order asked for. */
  read(rules: readonly string[]): Promise<readonly Readonly<Record<string, number>>[]>;
}

/** Ms for which the counts of a rule are kept after its last check. */
const countsTtlMs = 90 * 24 * 3_600_000;

export function createPolicyCounts({ redis, prefix }: Shard): PolicyCounts {
  const key = (rule: string) => `${prefix}:policy:${rule}`;
  return {
    add: (counts) =>
      reachingRedis("counting what rules came to", async () => {
        const batch = redis.multi();
        for (const { rule, reason } of counts) {
          batch.hincrby(key(rule), reason, 1).pexpire(key(rule), countsTtlMs);
        }
        await batch.exec();
      }),
    read: (rules) =>
      reachingRedis("reading what rules came to", async () => {
        const all = await Promise.all(rules.map((rule) => redis.hgetall(key(rule))));
        return all.map((counts) =>
          Object.fromEntries(Object.entries(counts).map(([reason, count]) => [reason, Number(count)])),
        );
      }),
  };
}
