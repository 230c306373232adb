import { randomUUID } from "node:crypto";
import type { Receipt } from "../channels/index.js";
import { DaleError } from "../errors/index.js";
import type { EvidenceEntry } from "../evidence/index.js";
import { type Delivery, type DeliveryEvent, type DeliveryStore, reduceDelivery } from "../outbound/index.js";
import { appendEvidenceLua, evidenceAppend } from "./evidence-append.js";
import { nextRevision, parseRecord, parseRevised, revised, swapLua } from "./record.js";
import { slotKeys } from "./redis-slot-store.js";
import { createScript, reachingRedis, type Shard } from "./script.js";

const dayMs = 24 * 3_600_000;
/** Ms for which a record and its indexes are kept after the last change. */
const recordTtlMs = 7 * dayMs;
/** Ms for which a chat's last sent part is known: longer than any slot that may ask for it. */
const tailTtlMs = 30 * dayMs;
const parkedTtlMs = 10 * 60_000;
/** Receipts that are kept for one unknown message; a platform says no more than a few things of each. */
const mostParked = 20;
const mostRecent = 10_000;
const mostRecentOfSession = 500;
const mostTries = 200;

/**
 * KEYS: record, parts of the turn (hash: part → index), recent parts, recent parts of the session, then those of the
 * platform's id, and of the chat's last sent part and of whom it was sent to, that apply; then those of the evidence.
 * ARGV: revision seen, next revision, record's next form, ttl, part, index, place among the recent,
 * how many recent ones are kept in all and of the session, "1" when there is a platform's id, ttl of the chat's last part,
 * "1" when it is the last one, whom it is sent to; then those of the evidence.
 */
const swapScript = createScript(`${appendEvidenceLua}${swapLua}
local part, ttl = ARGV[5], ARGV[4]
redis.call('SET', KEYS[1], ARGV[3], 'PX', ttl)
redis.call('HSET', KEYS[2], part, ARGV[6])
redis.call('PEXPIRE', KEYS[2], ttl)
for i = 3, 4 do
  redis.call('ZADD', KEYS[i], 'NX', ARGV[7], part)
  redis.call('ZREMRANGEBYRANK', KEYS[i], 0, -1 - ARGV[5 + i])
  redis.call('PEXPIRE', KEYS[i], ttl)
end
local at = 5
if ARGV[10] == '1' then
  redis.call('SET', KEYS[at], part, 'PX', ttl)
  at = at + 1
end
if ARGV[12] == '1' then
  redis.call('SET', KEYS[at], part, 'PX', ARGV[11])
  redis.call('SET', KEYS[at + 1], ARGV[13], 'PX', ARGV[11])
  at = at + 2
end
append_evidence(at, 14)
return 1`);

/** KEYS: the chat's last sent part, whom it was sent to. ARGV: who wrote, empty for nobody of the chat. */
const interruptScript = createScript(`
if redis.call('GET', KEYS[2]) == ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1], KEYS[2])`);

/** KEYS: receipts. ARGV: receipt, how many are kept, ttl. */
const parkScript = createScript(`
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], -ARGV[2], -1)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`);

export interface DeliveryStoreOptions extends Shard {
  /** Ids of evidence entries. Default random. */
  readonly newId?: () => string;
}

/** Delivery records that all processes share: one read and one script a change. Receipts are parked by platform id. */
export function createDeliveryStore(options: DeliveryStoreOptions): DeliveryStore {
  const { redis, prefix, newId = randomUUID } = options;
  const keys = {
    record: (part: string) => `${prefix}:delivery:${part}`,
    turn: (turn: string) => `${prefix}:deliveries-of:${turn}`,
    recent: `${prefix}:deliveries`,
    recentOf: (session: string) => `${prefix}:deliveries:${session}`,
    ref: (channel: string, account: string, ref: string) => `${prefix}:ref:${channel}:${account}:${ref}`,
    parked: (channel: string, account: string, ref: string) => `${prefix}:parked:${channel}:${account}:${ref}`,
  };

  async function swap(
    seen: string,
    before: Delivery | undefined,
    after: Delivery,
    event: DeliveryEvent,
  ): Promise<boolean> {
    const next = nextRevision(seen);
    const at = event.type === "receipt" ? event.receipt.receivedAt : event.at;
    const told = after.notice !== undefined && before?.state !== after.state;
    const evidence = evidenceAppend(prefix, after.session, at, told ? [deliveryEvidence(after, newId(), at)] : []);
    const changed = [keys.record(after.part), keys.turn(after.turn), keys.recent, keys.recentOf(after.session)];
    if (after.ref !== undefined) changed.push(keys.ref(after.channel, after.account, after.ref));
    const address = event.type === "sending" ? event.part.address : undefined;
    if (address) changed.push(...tailOf(`${address.channel}:${address.account}:${address.chat}`));
    changed.push(...evidence.keys);
    const swapped = await swapScript.run(redis, "writing a delivery", changed, [
      seen,
      next,
      revised(next, after),
      recordTtlMs,
      after.part,
      after.index,
      placeOf(after),
      mostRecent,
      mostRecentOfSession,
      after.ref === undefined ? "0" : "1",
      tailTtlMs,
      address ? "1" : "0",
      address?.sender ?? "",
      ...evidence.args,
    ]);
    return swapped === 1;
  }

  function tailOf(chat: string): readonly string[] {
    return [slotKeys.tail(prefix, chat), slotKeys.tailSender(prefix, chat)];
  }

  async function readAll(parts: readonly string[]): Promise<readonly Delivery[]> {
    if (parts.length === 0) return [];
    const found = await redis.mget(parts.map(keys.record));
    return found.flatMap((raw) => parseRevised<Delivery>(raw, "delivery").record ?? []);
  }

  return {
    async apply(part, event) {
      for (let tries = 0; tries < mostTries; tries++) {
        const raw = await reachingRedis("reading a delivery", () => redis.get(keys.record(part)));
        const { revision, record: before } = parseRevised<Delivery>(raw, "delivery");
        const after = reduceDelivery(before, event);
        if (after === before || (await swap(revision, before, after, event)))
          return { ...(before ? { before } : {}), after };
      }
      throw new DaleError("store_unavailable", "Too many others change this delivery.");
    },
    read: (part) => reachingRedis("reading a delivery", async () => (await readAll([part]))[0]),
    ofTurn: (turn) =>
      reachingRedis("reading a turn's deliveries", async () => {
        const records = await readAll(await redis.hkeys(keys.turn(turn)));
        return records.toSorted((one, other) => one.index - other.index);
      }),
    partOf: (channel, account, ref) =>
      reachingRedis("looking up a platform id", async () => {
        return (await redis.get(keys.ref(channel, account, ref))) ?? undefined;
      }),
    async park(channel, account, receipt) {
      const kept: ParkedReceipt = { version: 1, receipt };
      const key = keys.parked(channel, account, receipt.ref);
      await parkScript.run(redis, "parking a receipt", [key], [JSON.stringify(kept), mostParked, parkedTtlMs]);
    },
    parked: (channel, account, ref) =>
      reachingRedis("reading parked receipts", async () => {
        const kept = await redis.lrange(keys.parked(channel, account, ref), 0, -1);
        return kept.map((json) => parseRecord<ParkedReceipt>(json, "receipt").receipt);
      }),
    recent: ({ session, limit }) =>
      reachingRedis("reading recent deliveries", async () => {
        if (limit <= 0) return [];
        const list = session === undefined ? keys.recent : keys.recentOf(session);
        return await readAll(await redis.zrevrange(list, 0, limit - 1));
      }),
    async interrupt(chat, sender) {
      await interruptScript.run(redis, "writing what was last said in a chat", tailOf(chat), [sender ?? ""]);
    },
  };
}

/** One transition of a message that carried a notice. Its proposal's other entries say of which call. */
function deliveryEvidence(delivery: Delivery, id: string, at: number): EvidenceEntry {
  const { state, ref, code, index, of, attempts } = delivery;
  const platformAt =
    state === "accepted" || state === "delivered" || state === "read" ? delivery.platformTimes?.[state] : undefined;
  return {
    id,
    at,
    type: "delivery",
    session: delivery.session,
    proposal: delivery.notice ?? "",
    agent: "",
    tool: "",
    argsHash: "",
    turn: delivery.turn,
    detail: {
      part: delivery.part,
      state,
      channel: delivery.channel,
      account: delivery.account,
      index,
      of,
      attempts,
      ...(ref === undefined ? {} : { ref }),
      ...(platformAt === undefined ? {} : { platformAt }),
      ...(code === undefined ? {} : { code }),
    },
  };
}

interface ParkedReceipt {
  readonly version: 1;
  readonly receipt: Receipt;
}

/** By the time it was made; parts of one answer in their order. */
function placeOf(delivery: Delivery): number {
  return (delivery.times.queued ?? 0) + Math.min(delivery.index, 999) / 1_000;
}
