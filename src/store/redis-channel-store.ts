import type { ChannelStore, FencedState } from "../channels/index.js";
import { createChannelLog } from "./channel-log.js";
import { acquireLease } from "./lease.js";
import { createScript, reachingRedis, type Shard } from "./script.js";
import type { Signals } from "./signals.js";

export interface RedisChannelStoreOptions extends Shard {
  readonly signals: Signals;
  readonly channel: string;
  readonly account: string;
}

/**
 * KEYS: last fence given out, state. ARGV: fence of the writer, how many entries are set, their names and values, then
 * the names to delete.
 */
const writeScript = createScript(`
if tonumber(redis.call('GET', KEYS[1]) or '0') > tonumber(ARGV[1]) then return 0 end
local sets = tonumber(ARGV[2])
for i = 1, sets do redis.call('HSET', KEYS[2], ARGV[1 + 2 * i], ARGV[2 + 2 * i]) end
for i = 3 + 2 * sets, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
return 1`);

/** One account's corner of the store, in Redis. Accounts' names have no colon. */
export function createRedisChannelStore(options: RedisChannelStoreOptions): ChannelStore {
  const { redis, prefix } = options;
  const base = `channel:${options.channel}:${options.account}`;
  const leaseKeys = { lease: `${prefix}:${base}:lease`, fence: `${prefix}:${base}:fence` };
  const stateKey = `${prefix}:${base}:state`;
  const valueKey = (key: string) => `${prefix}:${base}:value:${key}`;

  const fenced: FencedState = {
    read: (keys) =>
      reachingRedis("reading a channel's state", async () => {
        if (keys.length === 0) return [];
        return (await redis.hmget(stateKey, ...keys)).map((value) => value ?? undefined);
      }),
    keys: (start) =>
      reachingRedis("reading a channel's state", async () => {
        return (await redis.hkeys(stateKey)).filter((key) => key.startsWith(start));
      }),
    async write(fence, entries) {
      const sets: string[] = [];
      const deletes: string[] = [];
      for (const [key, value] of Object.entries(entries)) {
        if (value === null) deletes.push(key);
        else sets.push(key, value);
      }
      const args = [fence, sets.length / 2, ...sets, ...deletes];
      return (await writeScript.run(redis, "writing a channel's state", [leaseKeys.fence, stateKey], args)) === 1;
    },
  };

  return {
    acquireLease: (ttlMs) => acquireLease(redis, leaseKeys, ttlMs),
    get: (key) => reachingRedis("reading a value", async () => (await redis.get(valueKey(key))) ?? undefined),
    set: (key, value, ttlMs) =>
      reachingRedis("writing a value", async () => {
        if (ttlMs === undefined) await redis.set(valueKey(key), value);
        else await redis.set(valueKey(key), value, "PX", Math.max(1, Math.ceil(ttlMs)));
      }),
    delete: (key) =>
      reachingRedis("deleting a value", async () => {
        await redis.del(valueKey(key));
      }),
    fenced,
    log: createChannelLog({ redis, prefix, signals: options.signals, base }),
  };
}
