import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import { DaleError } from "../errors/index.js";

/** Where a store keeps its keys: all of them share the hash tag in `prefix`, so that one script may touch several. */
export interface Shard {
  readonly redis: Redis;
  /** Holds a hash tag, e.g. `{dale}`. Every key is `<prefix>:<name>`. */
  readonly prefix: string;
}

/** A Lua script that Redis runs as one step. */
export interface Script {
  /** @param what names the step in errors; no ids of people */
  run(redis: Redis, what: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
}

/** Sent whole the first time that a server sees it, by its hash ever after: one round trip. */
export function createScript(lua: string): Script {
  const sha = createHash("sha1").update(lua).digest("hex");
  return {
    run: (redis, what, keys, args) =>
      reachingRedis(what, async () => {
        try {
          return await redis.evalsha(sha, keys.length, ...keys, ...args);
        } catch (error) {
          if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
          return await redis.eval(lua, keys.length, ...keys, ...args);
        }
      }),
  };
}

/** Does something with Redis; whatever goes wrong is DaleError `store_unavailable`: it may or may not have happened. */
export async function reachingRedis<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DaleError) throw error;
    throw new DaleError("store_unavailable", `Redis could not be reached or refused: ${what}.`, { cause: error });
  }
}
