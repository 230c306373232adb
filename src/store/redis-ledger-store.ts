import { randomUUID } from "node:crypto";
import type { EvidenceDetail, EvidenceEntry } from "../evidence/index.js";
import type { Candidate, Confirmation, LedgerStore } from "../ledger/index.js";
import { keptMs, mostOfSession, newestOfTool } from "../ledger/index.js";
import { appendEvidenceLua, evidenceAppend } from "./evidence-append.js";
import { evidenceKeys } from "./evidence-journal.js";
import { parseRecord } from "./record.js";
import { createScript, reachingRedis, type Shard } from "./script.js";

/** Ms for which it is remembered that a confirmation was used: longer than it can be found. */
const usedTtlMs = 2 * keptMs;

/**
 * KEYS: confirmations, whether evidence is kept here, then those of the evidence. ARGV: confirmation, how many are kept,
 * ttl; then the evidence. Without a gateway on this Redis nobody would ever take evidence away.
 */
const recordScript = createScript(`${appendEvidenceLua}
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if redis.call('EXISTS', KEYS[2]) == 1 then append_evidence(3, 4) end
return 1`);

/**
 * KEYS: used confirmations (sorted by the time of use), whether evidence is kept here, the keys of refs, then those of the
 * evidence. ARGV: now, ttl of the used, how many refs, how many ids, the ids; then the evidence. All or nothing. A ref stays
 * spent for ever: a job can be retried at any time, and what it rebuilds (`ageMs`) is as young as ever.
 */
const useScript = createScript(`${appendEvidenceLua}
local lastRef = 2 + ARGV[3]
local lastId = 4 + ARGV[4]
for i = 5, lastId do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then return 0 end
end
for i = 3, lastRef do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end
end
for i = 5, lastId do redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i]) end
if lastId > 4 then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
for i = 3, lastRef do redis.call('SET', KEYS[i], ARGV[1]) end
if redis.call('EXISTS', KEYS[2]) == 1 then append_evidence(lastRef + 1, lastId + 1) end
return 1`);

/** Confirmations that all processes share. */
export function createRedisLedgerStore({ redis, prefix }: Shard): LedgerStore {
  const keys = {
    kept: (scope: string) => `${prefix}:ledger:kept:${scope}`,
    used: (scope: string) => `${prefix}:ledger:used:${scope}`,
    ref: (ref: string) => `${prefix}:ledger:ref:${ref}`,
  };
  const parse = (json: string) => parseRecord<Confirmation>(json, "confirmation");

  return {
    async record(scope, confirmation) {
      const { at } = confirmation;
      const entry = entryOf(
        scope,
        "confirmation",
        at,
        { confirmation: confirmation.id, ...told(confirmation) },
        confirmation,
      );
      const evidence = evidenceAppend(prefix, entry.session, at, [entry]);
      await recordScript.run(
        redis,
        "recording a confirmation",
        [keys.kept(scope), evidenceKeys.kept(prefix), ...evidence.keys],
        [JSON.stringify(confirmation), mostOfSession, keptMs, ...evidence.args],
      );
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
          refs.length === 0 ? [] : redis.mget(refs.map(keys.ref)),
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
      const refs = new Set(uses.flatMap(({ ref }) => (ref === undefined ? [] : [keys.ref(ref)])));
      const entries = uses.map(({ id, ref, told: of }) => {
        const detail = {
          ...(id === undefined ? {} : { confirmation: id }),
          ...(ref === undefined ? {} : { ref }),
          ...(of === undefined ? {} : { ...told(of.confirmation), rule: of.rule }),
        };
        return entryOf(scope, "confirmation_used", at, detail, of?.confirmation);
      });
      const evidence = evidenceAppend(prefix, sessionOf(scope), at, entries);
      const used = await useScript.run(
        redis,
        "using a confirmation",
        [keys.used(scope), evidenceKeys.kept(prefix), ...refs, ...evidence.keys],
        [at, usedTtlMs, refs.size, ids.length, ...ids, ...evidence.args],
      );
      return used === 1;
    },
    async close() {},
  };
}

/** As the evidence names it: a trace is a session of its own. */
function sessionOf(scope: string): string {
  return scope.startsWith("session:") ? scope.slice("session:".length) : scope;
}

/** With the ledger's own hash of the arguments, which is not the call's fingerprint; `scheme` says how it was made. */
function told({ kind, outcome, role, ref, binding }: Confirmation): EvidenceDetail {
  const scheme = binding.to === "arguments" ? { scheme: binding.scheme } : {};
  return { kind, outcome, role, ...(ref === undefined ? {} : { ref }), ...scheme };
}

function entryOf(
  scope: string,
  type: string,
  at: number,
  detail: EvidenceDetail,
  of: Confirmation | undefined,
): EvidenceEntry {
  const argsHash = of?.binding.to === "arguments" ? of.binding.hash : "";
  const about = { session: sessionOf(scope), proposal: "", agent: "", tool: of?.tool ?? "", argsHash };
  return { id: randomUUID(), at, type, ...about, detail };
}
