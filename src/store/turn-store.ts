import { createHmac, randomBytes } from "node:crypto";
import type { ModelMessage } from "../agents/models/index.js";
import type { ConversationMemory, TurnRecord, TurnStore } from "../turns/index.js";
import { parseRecord } from "./record.js";
import { createScript, reachingRedis, type Shard } from "./script.js";

const dayMs = 24 * 3_600_000;
/** Ms for which a record is kept: longer than any platform delivers a message again. */
const recordTtlMs = 8 * dayMs;
const timelineTtlMs = 7 * dayMs;
const opaqueTtlMs = 30 * dayMs;
const mostOfTimeline = 500;
const mostRecent = 10_000;
const mostSessions = 10_000;
/** Sessions whose opaque id one process knows to be resolvable. */
const mostKnown = 10_000;

/** KEYS: record, fence. ARGV: fence, ttl. Answers the record, or notes the fence where there is none yet. */
const readScript = createScript(`
local record = redis.call('GET', KEYS[1])
if record then return record end
if tonumber(ARGV[1]) > tonumber(redis.call('GET', KEYS[2]) or '0') then
  redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
end
return false`);

/**
 * KEYS: record, fence, timeline, recent turns, sessions, opaque id, memory.
 * ARGV: fence, record, its ttl, turn, session, time, how many turns a timeline keeps, its ttl, how many recent turns and
 * how many sessions are kept, since when, ttl of the opaque id, then what to remember: messages, turns kept, ttl (s).
 */
const commitScript = createScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 'already' end
if tonumber(redis.call('GET', KEYS[2]) or '0') > tonumber(ARGV[1]) then return 'fenced' end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('RPUSH', KEYS[3], ARGV[4])
redis.call('LTRIM', KEYS[3], -ARGV[7], -1)
redis.call('PEXPIRE', KEYS[3], ARGV[8])
redis.call('ZADD', KEYS[4], ARGV[6], ARGV[4])
redis.call('ZREMRANGEBYRANK', KEYS[4], 0, -1 - ARGV[9])
redis.call('ZADD', KEYS[5], 'GT', ARGV[6], ARGV[5])
redis.call('ZREMRANGEBYRANK', KEYS[5], 0, -1 - ARGV[10])
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', ARGV[11])
redis.call('SET', KEYS[6], ARGV[5], 'PX', ARGV[12])
if ARGV[13] then
  redis.call('RPUSH', KEYS[7], ARGV[13])
  redis.call('LTRIM', KEYS[7], -ARGV[14], -1)
  redis.call('EXPIRE', KEYS[7], ARGV[15])
end
return 'committed'`);

interface RememberedTurn {
  readonly version: 1;
  readonly turn: string;
  readonly messages: readonly ModelMessage[];
}

/** Agents' names have no colon; a session's id has some. */
function memoryKey(prefix: string, agent: string, session: string): string {
  return `${prefix}:memory:${agent}:${session}`;
}

/**
 * Committed turns, and what goes with them in the same script: the conversation's memory, the session's timeline, the
 * list of sessions. The key of the opaque ids is made at the first start and kept in Redis.
 */
export async function createTurnStore(shard: Shard): Promise<TurnStore> {
  const { redis, prefix } = shard;
  const key = await opaqueKey(shard);
  const known = new Set<string>();
  const keys = {
    record: (turn: string) => `${prefix}:turn:${turn}`,
    fence: (turn: string) => `${prefix}:turn-fence:${turn}`,
    timeline: (session: string) => `${prefix}:timeline:${session}`,
    recent: `${prefix}:turns`,
    sessions: `${prefix}:sessions`,
    opaque: (id: string) => `${prefix}:opaque:${id}`,
  };
  const parse = (json: string) => parseRecord<TurnRecord>(json, "turn");
  const opaqueId = (session: string) =>
    `ses_${createHmac("sha256", key).update(session).digest("base64url").slice(0, 16)}`;

  async function find(turn: string, fence: number | undefined): Promise<string | undefined> {
    if (fence === undefined) {
      return (await reachingRedis("reading a turn", () => redis.get(keys.record(turn)))) ?? undefined;
    }
    const json = await readScript.run(
      redis,
      "reading a turn",
      [keys.record(turn), keys.fence(turn)],
      [fence, recordTtlMs],
    );
    return typeof json === "string" ? json : undefined;
  }

  /** Logs may name a session whose first turn has not been committed: it has to be found all the same. Best effort. */
  function makeResolvable(id: string, session: string): void {
    if (known.has(id)) return;
    if (known.size >= mostKnown) known.clear();
    known.add(id);
    redis.set(keys.opaque(id), session, "PX", opaqueTtlMs).catch(() => known.delete(id));
  }

  return {
    async read(turn, fence) {
      const json = await find(turn, fence);
      return json === undefined ? undefined : parse(json);
    },
    async commit(record, remember, fence) {
      const { session } = record;
      const remembered = remember && remember.maxTurns > 0 ? rememberedTurn(record.id, remember.messages) : undefined;
      const result = await commitScript.run(
        redis,
        "committing a turn",
        [
          keys.record(record.id),
          keys.fence(record.id),
          keys.timeline(session),
          keys.recent,
          keys.sessions,
          keys.opaque(opaqueId(session)),
          memoryKey(prefix, record.agent, session),
        ],
        [
          fence,
          JSON.stringify(record),
          recordTtlMs,
          record.id,
          session,
          record.finishedAt,
          mostOfTimeline,
          timelineTtlMs,
          mostRecent,
          mostSessions,
          record.finishedAt - recordTtlMs,
          opaqueTtlMs,
          ...(remember && remembered ? [JSON.stringify(remembered), remember.maxTurns, remember.ttlSeconds] : []),
        ],
      );
      return result === "committed" || result === "already" ? result : "fenced";
    },
    recent: ({ session, limit }) =>
      reachingRedis("reading recent turns", async () => {
        if (limit <= 0) return [];
        const turns =
          session === undefined
            ? await redis.zrevrange(keys.recent, 0, limit - 1)
            : (await redis.lrange(keys.timeline(session), -limit, -1)).reverse();
        if (turns.length === 0) return [];
        const found = await redis.mget(turns.map(keys.record));
        return found.flatMap((json) => (json === null ? [] : [parse(json)]));
      }),
    sessions: (limit) =>
      reachingRedis("reading sessions", async () => {
        if (limit <= 0) return [];
        const flat = await redis.zrevrange(keys.sessions, 0, limit - 1, "WITHSCORES");
        const pairs = flat.flatMap((session, i) => (i % 2 === 0 ? [{ session, lastAt: Number(flat[i + 1]) }] : []));
        return pairs;
      }),
    opaque(session) {
      const id = opaqueId(session);
      makeResolvable(id, session);
      return id;
    },
    resolve: (id) => reachingRedis("resolving a session", async () => (await redis.get(keys.opaque(id))) ?? undefined),
  };
}

/** 32 random bytes of this installation: whoever starts first makes them. */
async function opaqueKey({ redis, prefix }: Shard): Promise<Buffer> {
  const name = `${prefix}:opaque-key`;
  return await reachingRedis("reading the key of opaque ids", async () => {
    await redis.set(name, randomBytes(32).toString("base64"), "NX");
    return Buffer.from((await redis.get(name)) ?? "", "base64");
  });
}

/** Without images: bytes that people sent are not stored. */
function rememberedTurn(turn: string, messages: readonly ModelMessage[]): RememberedTurn {
  return { version: 1, turn, messages: messages.map(withoutImages) };
}

function withoutImages(message: ModelMessage): ModelMessage {
  if (message.role !== "user" || !message.images) return message;
  const { images: _images, ...rest } = message;
  return rest;
}

/** What `commit` remembered, whole turns, oldest first. */
export function createConversationMemory(shard: Shard): ConversationMemory {
  return {
    load: (session, agent, maxTurns) =>
      reachingRedis("reading a conversation", async () => {
        if (maxTurns <= 0) return [];
        const turns = await shard.redis.lrange(memoryKey(shard.prefix, agent, session), -maxTurns, -1);
        return turns.flatMap((json) => parseRecord<RememberedTurn>(json, "conversation").messages);
      }),
  };
}
