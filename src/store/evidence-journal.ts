import type { EvidenceEntry, EvidenceQuery, EvidenceReader } from "../evidence/index.js";
import { parseRecord } from "./record.js";
import { reachingRedis, type Shard } from "./script.js";

/**
 * The evidence as it is written, in the script of the change that it tells of: one stream per session
 * (`<prefix>:evidence:<session>`, fields `id` and `json`), and a sorted set of the sessions whose stream has entries
 * (`<prefix>:evidence-sessions`, by the time of their first entry). Whoever moves entries elsewhere removes both.
 */
export const evidenceKeys = {
  stream: (prefix: string, session: string) => `${prefix}:evidence:${session}`,
  sessions: (prefix: string) => `${prefix}:evidence-sessions`,
  /** The session of a proposal. */
  proposal: (prefix: string, proposal: string) => `${prefix}:proposal:${proposal}`,
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

/** How many entries are read where a query does not say. */
const usualLimit = 1_000;
/** Without a session, so many sessions are looked at. */
const mostSessions = 1_000;

/** Reads what has not been moved elsewhere: the newest `limit` entries that fit the query, oldest first. */
export function createEvidenceJournal(shard: Shard): EvidenceReader {
  const { redis, prefix } = shard;

  async function ofSession(session: string, count: number | undefined): Promise<readonly EvidenceEntry[]> {
    const stream = evidenceKeys.stream(prefix, session);
    const found =
      count === undefined
        ? await redis.xrevrange(stream, "+", "-")
        : await redis.xrevrange(stream, "+", "-", "COUNT", count);
    return found.reverse().map(([, fields]) => parseEvidence(fields[fields.indexOf("json") + 1] ?? ""));
  }

  async function sessionsOf(query: EvidenceQuery): Promise<readonly string[]> {
    if (query.session !== undefined) return [query.session];
    if (query.proposal === undefined) {
      return await redis.zrevrange(evidenceKeys.sessions(prefix), 0, mostSessions - 1);
    }
    const session = await redis.get(evidenceKeys.proposal(prefix, query.proposal));
    return session === null ? [] : [session];
  }

  return {
    list: (query) =>
      reachingRedis("reading evidence", async () => {
        const limit = query.limit ?? usualLimit;
        if (limit <= 0) return [];
        const sessions = await sessionsOf(query);
        const lists = await Promise.all(
          sessions.map((session) => ofSession(session, query.proposal === undefined ? limit : undefined)),
        );
        return selectEvidence(lists.flat(), query, limit);
      }),
  };
}

/** The newest `limit` of the entries that fit, oldest first: as they were written, or of several sessions by their time. */
export function selectEvidence(
  entries: readonly EvidenceEntry[],
  query: EvidenceQuery,
  limit = query.limit ?? usualLimit,
): readonly EvidenceEntry[] {
  const fitting = entries.filter(
    (entry) =>
      (query.session === undefined || entry.session === query.session) &&
      (query.proposal === undefined || entry.proposal === query.proposal),
  );
  const several = query.session === undefined && query.proposal === undefined;
  const ordered = several ? fitting.toSorted((one, other) => one.at - other.at) : fitting;
  return limit > 0 ? ordered.slice(-limit) : [];
}
