import { randomUUID } from "node:crypto";
import { emptySlot, type Slot, type SlotStore } from "../gate/index.js";
import type { UnsettledExecution, UnsettledStore } from "../turns/index.js";
import { evidenceJson, evidenceKeys, proposalTtlMs } from "./evidence-journal.js";
import { nextRevision, parseRecord, parseRevised, revised, swapLua } from "./record.js";
import { createScript, reachingRedis, type Shard } from "./script.js";
import { createSlotLoop, type SlotChange } from "./slot-cell.js";
import { verdictEvidence } from "./verdict.js";

export interface RedisSlotStoreOptions extends Shard {
  /** Ids of evidence entries. Default random. */
  readonly newId?: () => string;
}

/** Ms for which a slot is kept after its last change; longer where its proposal lives longer. */
const slotTtlMs = 8 * 24 * 3_600_000;

export const slotKeys = {
  slot: (prefix: string, session: string) => `${prefix}:slot:${session}`,
  /** The outbound part that was last handed to the platform for a chat (`<channel>:<account>:<chat>`). */
  tail: (prefix: string, chat: string) => `${prefix}:tail:${chat}`,
  /** Whom that part was sent to. */
  tailSender: (prefix: string, chat: string) => `${prefix}:tail-sender:${chat}`,
  /** Hash: proposal → what is known of an execution that nobody saw end. */
  unsettled: (prefix: string) => `${prefix}:unsettled`,
};

/**
 * KEYS: slot, evidence stream, sessions with evidence, unsettled, then one per proposal of the evidence.
 * ARGV: revision seen, next revision, slot's next form, its ttl, session, now, ttl of a proposal's key, then three counted lists:
 * id and json of each evidence entry; proposal and json of each execution to list; proposals to take off the list.
 */
const swapScript = createScript(`${swapLua}
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
local at = 8
local function list(step, each)
  local count = tonumber(ARGV[at])
  at = at + 1
  for _ = 1, count do
    each(ARGV[at], ARGV[at + 1])
    at = at + step
  end
  return count
end
local written = list(2, function(id, json) redis.call('XADD', KEYS[2], '*', 'id', id, 'json', json) end)
if written > 0 then
  redis.call('ZADD', KEYS[3], 'NX', ARGV[6], ARGV[5])
  for i = 5, #KEYS do redis.call('SET', KEYS[i], ARGV[5], 'PX', ARGV[7]) end
end
list(2, function(proposal, json) redis.call('HSET', KEYS[4], proposal, json) end)
list(1, function(proposal) redis.call('HDEL', KEYS[4], proposal) end)
return 1`);

/** Slots that all processes share. A transition is one read and, if it changes anything, one script. */
export function createRedisSlotStore(options: RedisSlotStoreOptions): SlotStore {
  const { redis, prefix } = options;
  return createSlotLoop({
    newId: options.newId ?? randomUUID,
    cell: {
      read: (session, chat) =>
        reachingRedis("reading a slot", async () => {
          const keys = [slotKeys.slot(prefix, session)];
          if (chat !== undefined) keys.push(slotKeys.tail(prefix, chat));
          const [raw, last] = await redis.mget(keys);
          const { revision, record } = parseRevised<Slot>(raw, "slot");
          return {
            revision,
            slot: record ?? emptySlot,
            surroundings: typeof last === "string" ? { lastSent: last } : {},
          };
        }),
      async swap(session, revision, change) {
        const next = nextRevision(revision);
        const proposals = [...new Set(change.evidence.map((entry) => entry.proposal))];
        const swapped = await swapScript.run(
          redis,
          "writing a slot",
          [
            slotKeys.slot(prefix, session),
            evidenceKeys.stream(prefix, session),
            evidenceKeys.sessions(prefix),
            slotKeys.unsettled(prefix),
            ...proposals.map((proposal) => evidenceKeys.proposal(prefix, proposal)),
          ],
          [
            revision,
            next,
            revised(next, change.slot),
            ttlOf(change),
            session,
            change.at,
            proposalTtlMs,
            change.evidence.length,
            ...change.evidence.flatMap((entry) => [entry.id, evidenceJson(entry)]),
            change.unsettled.length,
            ...change.unsettled.flatMap((execution) => [execution.proposal, unsettledJson(execution)]),
            change.settled.length,
            ...change.settled,
          ],
        );
        return swapped === 1;
      },
    },
  });
}

function ttlOf(change: SlotChange): number {
  const { current } = change.slot;
  return current.state === "empty" ? slotTtlMs : slotTtlMs + Math.max(0, current.proposal.expiresAt - change.at);
}

type UnsettledRecord = UnsettledExecution & { readonly version: 1 };

function unsettledJson(execution: UnsettledExecution): string {
  const record: UnsettledRecord = { version: 1, ...execution };
  return JSON.stringify(record);
}

function parseUnsettled(json: string): UnsettledExecution {
  const { version: _version, ...execution } = parseRecord<UnsettledRecord>(json, "unsettled execution");
  return execution;
}

/** KEYS: unsettled, evidence stream, sessions with evidence. ARGV: proposal, session, now, entry's id, its json. */
const settleScript = createScript(`
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('XADD', KEYS[2], '*', 'id', ARGV[4], 'json', ARGV[5])
redis.call('ZADD', KEYS[3], 'NX', ARGV[3], ARGV[2])
return 1`);

/** The list that the slot store keeps; an operator's verdict is evidence, written in the step that takes it off. */
export function createUnsettledStore(options: RedisSlotStoreOptions): UnsettledStore {
  const { redis, prefix } = options;
  const newId = options.newId ?? randomUUID;
  const list = slotKeys.unsettled(prefix);
  return {
    list: (limit) =>
      reachingRedis("reading unsettled executions", async () => {
        const all = (await redis.hvals(list)).map(parseUnsettled);
        return all.sort((one, other) => one.since - other.since).slice(0, limit);
      }),
    async settle(proposal, verdict) {
      const json = await reachingRedis("reading an unsettled execution", () => redis.hget(list, proposal));
      if (json === null) return false;
      const execution = parseUnsettled(json);
      const entry = verdictEvidence(execution, verdict, newId());
      const settled = await settleScript.run(
        redis,
        "settling an execution",
        [list, evidenceKeys.stream(prefix, execution.session), evidenceKeys.sessions(prefix)],
        [proposal, execution.session, verdict.at, entry.id, evidenceJson(entry)],
      );
      return settled === 1;
    },
  };
}
