import type { Redis } from "ioredis";
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import type { RateLimit } from "../channels/index.js";
import { DaleError } from "../errors/index.js";

export interface SendLimits {
  readonly account: RateLimit;
  readonly chat: RateLimit;
  /** For group chats; `chat` where it is not given. */
  readonly group?: RateLimit;
}

export interface SendLimiterOptions {
  readonly redis: Redis;
  /** Ends with the account's name; shared by every process that sends on it. */
  readonly keyPrefix: string;
  /** Undefined: no limits (a load test). */
  readonly limits: SendLimits | undefined;
}

/** Counts sent messages per account and per chat across processes, in fixed windows of the given length. */
export function createSendLimiter(options: SendLimiterOptions): {
  /** @returns milliseconds to wait, 0 when the message may go out now (then it is counted) */
  take(chat: string, group: boolean): Promise<number>;
} {
  const { limits } = options;
  if (!limits) return { take: async () => 0 };
  const limiter = (name: string, limit: RateLimit) =>
    new RateLimiterRedis({
      storeClient: options.redis,
      keyPrefix: `${options.keyPrefix}:${name}`,
      points: limit.count,
      duration: limit.perMs / 1000,
      useRedisPackage: false,
    });
  const account = limiter("account", limits.account);
  const chats = limiter("chat", limits.chat);
  const groups = limiter("group", limits.group ?? limits.chat);

  return {
    async take(chat, group) {
      const perChat = group ? groups : chats;
      const wait = await consume(perChat, chat);
      if (wait > 0) return wait;
      const accountWait = await consume(account, "all");
      if (accountWait > 0) await perChat.reward(chat);
      return accountWait;
    },
  };
}

async function consume(limiter: RateLimiterRedis, key: string): Promise<number> {
  try {
    await limiter.consume(key);
    return 0;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return Math.max(refusal.msBeforeNext, 1);
    throw new DaleError("store_unavailable", "The send limits could not be read.", { cause: refusal });
  }
}
