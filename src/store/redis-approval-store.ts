import { randomUUID } from "node:crypto";
import { DaleError } from "../errors/index.js";
import {
  type Approval,
  type ApprovalEvent,
  type ApprovalEvidence,
  type ApprovalStore,
  reduceApproval,
  requestEvidence,
} from "../ledger/index.js";
import { appendEvidenceLua, evidenceAppend } from "./evidence-append.js";
import { nextRevision, parseRevised, revised, swapLua } from "./record.js";
import { slotKeys } from "./redis-slot-store.js";
import { reviewerText } from "./reviewer-text.js";
import { createScript, reachingRedis, type Shard } from "./script.js";

const dayMs = 24 * 3_600_000;
/** Ms for which a request is kept after its last change, or after its time where it waits. */
const keptMs = 8 * dayMs;
/** Requests that are listed after they are over. */
const mostOver = 1000;
/** So often in a row somebody else may be faster. */
const mostTries = 50;

/**
 * KEYS: request, waiting (by the end of their time), over (by when), a session's open calls (fingerprint → id), answered,
 * unsettled executions, then those of the evidence.
 * ARGV: revision seen, next revision, its next form, ttl, id, fingerprint, end of its time, now, then for each list whether
 * it belongs on it (1, 0; empty: as it is): waiting, over, open, answered, unsettled; the unsettled execution; how many
 * are listed as over; whether it is new; then the evidence.
 */
const swapScript = createScript(`${appendEvidenceLua}${swapLua}
if ARGV[16] == '1' and ARGV[11] == '1' then
  local open = redis.call('HGET', KEYS[4], ARGV[6])
  if open and open ~= ARGV[5] then return -1 end
end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
if ARGV[9] == '1' then redis.call('ZADD', KEYS[2], ARGV[7], ARGV[5]) else redis.call('ZREM', KEYS[2], ARGV[5]) end
if ARGV[10] == '1' then
  redis.call('ZADD', KEYS[3], 'NX', ARGV[8], ARGV[5])
  redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - ARGV[15])
end
if ARGV[11] == '1' then
  redis.call('HSET', KEYS[4], ARGV[6], ARGV[5])
  redis.call('PEXPIRE', KEYS[4], ARGV[4])
elseif redis.call('HGET', KEYS[4], ARGV[6]) == ARGV[5] then
  redis.call('HDEL', KEYS[4], ARGV[6])
end
if ARGV[12] == '1' then redis.call('SADD', KEYS[5], ARGV[5]) end
if ARGV[13] == '1' then
  redis.call('HSET', KEYS[6], ARGV[5], ARGV[14])
elseif ARGV[13] == '0' then
  redis.call('HDEL', KEYS[6], ARGV[5])
end
append_evidence(7, 17)
return 1`);

/** Approvals that all processes share. */
export function createApprovalStore({ redis, prefix }: Shard): ApprovalStore {
  const keys = {
    request: (id: string) => `${prefix}:approval:${id}`,
    waiting: `${prefix}:approvals:waiting`,
    over: `${prefix}:approvals:over`,
    open: (session: string) => `${prefix}:approvals:open:${session}`,
    answered: `${prefix}:approvals:answered`,
  };

  async function look(id: string) {
    const raw = await reachingRedis("reading an approval", () => redis.get(keys.request(id)));
    return parseRevised<Approval>(raw, "approval");
  }

  async function swap(
    seen: string,
    approval: Approval,
    drafts: readonly ApprovalEvidence[],
    at: number,
  ): Promise<"written" | "lost" | "open"> {
    const next = nextRevision(seen);
    const { id, session, expiresAt, fingerprint } = approval;
    const lists = belonging(approval);
    const entries = drafts.map((draft) => ({
      ...draft,
      id: randomUUID(),
      session,
      proposal: id,
      agent: approval.agent,
      tool: approval.tool,
      argsHash: fingerprint,
    }));
    // A request without a session belongs to no conversation that anybody could look up.
    const evidence = evidenceAppend(prefix, session, at, session === "" ? [] : entries);
    const ttl = keptMs + Math.max(0, expiresAt - at);
    const result = await swapScript.run(
      redis,
      "writing an approval",
      [
        keys.request(id),
        keys.waiting,
        keys.over,
        keys.open(session),
        keys.answered,
        slotKeys.unsettled(prefix),
        ...evidence.keys,
      ],
      [
        seen,
        next,
        revised(next, approval),
        ttl,
        id,
        fingerprint,
        expiresAt,
        at,
        lists.waiting,
        lists.over,
        lists.open,
        lists.answered,
        lists.unsettled,
        unsettledJson(approval, at),
        mostOver,
        seen === "0" ? 1 : 0,
        ...evidence.args,
      ],
    );
    return result === 1 ? "written" : result === -1 ? "open" : "lost";
  }

  async function readAll(ids: readonly string[]): Promise<readonly Approval[]> {
    if (ids.length === 0) return [];
    const found = await redis.mget(ids.map(keys.request));
    return found.flatMap((raw) => parseRevised<Approval>(raw, "approval").record ?? []);
  }

  return {
    async request(approval) {
      const { revision, record } = await look(approval.id);
      if (record !== undefined) return "known";
      const written = await swap(
        revision,
        approval,
        [requestEvidence(approval, reviewerText(approval))],
        approval.requestedAt,
      );
      return written === "written" ? "requested" : written === "open" ? "open" : "known";
    },
    read: async (id) => (await look(id)).record,
    async apply(id: string, event: ApprovalEvent) {
      for (let tries = 0; tries < mostTries; tries++) {
        const { revision, record } = await look(id);
        if (record === undefined) {
          await reachingRedis("forgetting an approval", () => redis.zrem(keys.waiting, id));
          return undefined;
        }
        const { approval, outcome, evidence } = reduceApproval(record, event);
        if (approval === record) return { outcome, approval };
        if ((await swap(revision, approval, evidence, event.at)) === "written") return { outcome, approval };
      }
      throw new DaleError("store_unavailable", "Too many others change this approval.");
    },
    list: (state, limit) =>
      reachingRedis("listing approvals", async () => {
        const ids =
          state === "waiting"
            ? await redis.zrange(keys.waiting, "0", String(limit - 1))
            : await redis.zrevrange(keys.over, 0, limit - 1);
        const found = await readAll(ids);
        return state === "waiting" ? found.toSorted((one, other) => one.requestedAt - other.requestedAt) : found;
      }),
    openOf: (session) => reachingRedis("reading open approvals", () => redis.hkeys(keys.open(session))),
    due: (now, limit) =>
      reachingRedis("reading approvals that are due", () =>
        redis.zrangebyscore(keys.waiting, "-inf", now, "LIMIT", 0, limit),
      ),
    answered: (limit) =>
      reachingRedis("reading answered approvals", async () => (await redis.smembers(keys.answered)).slice(0, limit)),
    handedOver: (id) =>
      reachingRedis("handing an approval over", async () => {
        await redis.srem(keys.answered, id);
      }),
  };
}

type Belongs = 0 | 1 | "";

/** The lists that a request stands on, by its state. */
function belonging({
  current,
  origin,
}: Approval): Record<"waiting" | "over" | "open" | "answered" | "unsettled", Belongs> {
  const { state } = current;
  const parked = origin.kind === "turn";
  const open = parked && (state === "waiting" || state === "approved" || state === "executing");
  const answer = state === "approved" || state === "rejected" || state === "expired";
  const settled = current.state === "settled" ? (current.result.status === "unknown" ? 1 : 0) : "";
  return {
    waiting: state === "waiting" ? 1 : 0,
    over: state === "waiting" ? 0 : 1,
    open: open ? 1 : 0,
    answered: parked && answer ? 1 : "",
    unsettled: settled,
  };
}

/** As the list of unsettled executions has it, which an operator settles like any other. */
function unsettledJson(approval: Approval, at: number): string {
  const { id, session, agent, tool, fingerprint, shown } = approval;
  const record = { version: 1, proposal: id, session, agent, tool, argsHash: fingerprint, notice: shown, since: at };
  return JSON.stringify(record);
}
