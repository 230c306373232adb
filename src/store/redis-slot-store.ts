import { randomUUID } from "node:crypto";
import { emptySlot, type Slot, type SlotStore } from "../gate/index.js";
import type { UnsettledExecution, UnsettledStore } from "../turns/index.js";
import { appendEvidenceLua, evidenceAppend } from "./evidence-append.js";
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
 * KEYS: slot, unsettled, then those of the evidence.
 * ARGV: revision seen, next revision, slot's next form, its ttl, place of the evidence's arguments, then two counted lists:
 * proposal and json of each execution to list; proposals to take off the list; then the evidence.
 */
const swapScript = createScript(`${appendEvidenceLua}${swapLua}
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
append_evidence(3, tonumber(ARGV[5]))
local at = 6
local function list(step, each)
  local count = tonumber(ARGV[at])
  at = at + 1
  for _ = 1, count do
    each(ARGV[at], ARGV[at + 1])
    at = at + step
  end
end
list(2, function(proposal, json) redis.call('HSET', KEYS[2], proposal, json) end)
list(1, function(proposal) redis.call('HDEL', KEYS[2], proposal) end)
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
        const evidence = evidenceAppend(prefix, session, change.at, change.evidence);
        const lists = [
          change.unsettled.length,
          ...change.unsettled.flatMap((execution) => [execution.proposal, unsettledJson(execution)]),
          change.settled.length,
          ...change.settled,
        ];
        const swapped = await swapScript.run(
          redis,
          "writing a slot",
          [slotKeys.slot(prefix, session), slotKeys.unsettled(prefix), ...evidence.keys],
          [revision, next, revised(next, change.slot), ttlOf(change), 6 + lists.length, ...lists, ...evidence.args],
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

/** KEYS: unsettled, then those of the evidence. ARGV: proposal, then those of the evidence. */
const settleScript = createScript(`${appendEvidenceLua}
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
append_evidence(2, 2)
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
      const evidence = evidenceAppend(prefix, execution.session, verdict.at, [entry]);
      const settled = await settleScript.run(
        redis,
        "settling an execution",
        [list, ...evidence.keys],
        [proposal, ...evidence.args],
      );
      return settled === 1;
    },
  };
}
