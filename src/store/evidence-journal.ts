import {
  type EvidenceEntry,
  type EvidenceJournal,
  type EvidenceQuery,
  fitsQuery,
  selectEvidence,
  usualLimit,
  type WaitingEntry,
} from "../evidence/index.js";
import { parseRecord } from "./record.js";
import { createScript, reachingRedis, type Shard } from "./script.js";

/**
 * The evidence as it is written, in the script of the change that it tells of: one stream per session
 * (`<prefix>:evidence:<session>`, fields `id` and `json`), and a sorted set of the sessions whose stream has entries
 * (`<prefix>:evidence-sessions`, by the time of their first entry).
 */
export const evidenceKeys = {
  stream: (prefix: string, session: string) => `${prefix}:evidence:${session}`,
  sessions: (prefix: string) => `${prefix}:evidence-sessions`,
  /** The session of a proposal. */
  proposal: (prefix: string, proposal: string) => `${prefix}:proposal:${proposal}`,
  /** There as long as somebody moves what is written here: an app's own ledger writes evidence only then. */
  kept: (prefix: string) => `${prefix}:evidence-kept`,
  /** Id of the archive that entries go to. */
  archive: (prefix: string) => `${prefix}:evidence-archive`,
};

/** Ms for which a proposal's session can be found. */
export const proposalTtlMs = 30 * 24 * 3_600_000;

export type EvidenceRecord = EvidenceEntry & { readonly version: 1 };

export function evidenceJson(entry: EvidenceEntry): string {
  const record: EvidenceRecord = { version: 1, ...entry };
  return JSON.stringify(record);
}

export function parseEvidence(json: string): EvidenceEntry {
  const { version: _version, ...entry } = parseRecord<EvidenceRecord>(json, "evidence entry");
  return entry;
}

/** Ms for which it is believed that evidence is moved, after the last sign of it. */
const keptTtlMs = 7 * 24 * 3_600_000;
/** Without a session, so many sessions are looked at. */
const mostSessions = 1_000;
/** Entries that are read at once. */
const pageSize = 500;

/**
 * KEYS: stream, sessions with evidence. ARGV: session, then places in the stream. A session is listed as long as its
 * stream has entries, and no longer.
 */
const forgetScript = createScript(`
for i = 2, #ARGV do redis.call('XDEL', KEYS[1], ARGV[i]) end
if redis.call('XLEN', KEYS[1]) == 0 then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return 1`);

export function createEvidenceJournal(shard: Shard): EvidenceJournal {
  const { redis, prefix } = shard;
  const listed = evidenceKeys.sessions(prefix);

  /** The newest entries of a session that fit, newest first: page by page from the end. */
  async function newest(session: string, query: EvidenceQuery, limit: number): Promise<readonly EvidenceEntry[]> {
    const stream = evidenceKeys.stream(prefix, session);
    const found: EvidenceEntry[] = [];
    for (let end = "+"; ; ) {
      const page = await redis.xrevrange(stream, end, "-", "COUNT", pageSize);
      found.push(...page.map(([, fields]) => parseEvidence(jsonOf(fields))).filter((entry) => fitsQuery(entry, query)));
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize || found.length >= limit) return found.slice(0, limit);
      end = `(${last[0]}`;
    }
  }

  async function sessionsOf(query: EvidenceQuery): Promise<readonly string[]> {
    if (query.session !== undefined) return [query.session];
    if (query.proposal === undefined) return await redis.zrevrange(listed, 0, mostSessions - 1);
    const session = await redis.get(evidenceKeys.proposal(prefix, query.proposal));
    return session === null ? [] : [session];
  }

  return {
    list: (query) =>
      reachingRedis("reading evidence", async () => {
        const limit = query.limit ?? usualLimit;
        if (limit <= 0) return [];
        const sessions = await sessionsOf(query);
        const lists = await Promise.all(sessions.map((session) => newest(session, query, limit)));
        return selectEvidence(
          lists.flatMap((list) => list.toReversed()),
          query,
        );
      }),
    backlog: () =>
      reachingRedis("counting evidence", async () => {
        const [sessions, [, since]] = await Promise.all([
          redis.zcard(listed),
          redis.zrange(listed, "0", "0", "WITHSCORES"),
        ]);
        return { sessions, ...(since === undefined ? {} : { since: Number(since) }) };
      }),
    sessions: (limit) =>
      reachingRedis("looking for evidence", async () =>
        limit > 0 ? await redis.zrange(listed, "0", String(limit - 1)) : [],
      ),
    waiting: (sessions, each) =>
      reachingRedis("reading evidence", () =>
        Promise.all(
          sessions.map(async (session) => {
            const found = await redis.xrange(evidenceKeys.stream(prefix, session), "-", "+", "COUNT", each);
            return found.map(([place, fields]): WaitingEntry => {
              const entry = readable(jsonOf(fields));
              return { place, ...(entry ? { entry } : {}) };
            });
          }),
        ),
      ),
    async forget(session, places) {
      const keys = [evidenceKeys.stream(prefix, session), listed];
      await forgetScript.run(redis, "forgetting archived evidence", keys, [session, ...places]);
    },
    keep: () =>
      reachingRedis("keeping evidence", async () => {
        await redis.set(evidenceKeys.kept(prefix), "1", "PX", keptTtlMs);
      }),
    archive: (named) =>
      reachingRedis("naming the archive", async () => {
        if (named !== undefined) await redis.set(evidenceKeys.archive(prefix), named, "NX");
        return (await redis.get(evidenceKeys.archive(prefix))) ?? undefined;
      }),
  };
}

function jsonOf(fields: readonly string[]): string {
  return fields[fields.indexOf("json") + 1] ?? "";
}

/** A later version of Dale may have written what this one does not know: it waits for one that does. */
function readable(json: string): EvidenceEntry | undefined {
  try {
    return parseEvidence(json);
  } catch {
    return undefined;
  }
}
