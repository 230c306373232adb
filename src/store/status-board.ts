import type { ChannelState, ChannelStatus } from "../channels/index.js";
import { reachingRedis, type Shard } from "./script.js";

/** What every process says of the accounts that it receives on; the best of it is what an operator sees. */
export interface StatusBoard {
  /** To be repeated at least every `freshMs / 3`. */
  put(channel: string, account: string, status: ChannelStatus): Promise<void>;
  /** Undefined when no process has said anything lately. */
  read(channel: string, account: string): Promise<ChannelStatus | undefined>;
  /** Takes back what this process said of the account. */
  remove(channel: string, account: string): Promise<void>;
}

export interface StatusBoardOptions extends Shard {
  /** Unique to this process. */
  readonly process: string;
  readonly now: () => number;
  /** How long a word counts, ms. Default 30 s. */
  readonly freshMs?: number;
}

/** One process stands by while another one is open: the open one is the account's state. */
const best: readonly ChannelState[] = ["open", "unpaired", "reconnecting", "starting", "stopped"];

interface Posted {
  readonly version: 1;
  readonly at: number;
  readonly status: ChannelStatus;
}

export function createStatusBoard(options: StatusBoardOptions): StatusBoard {
  const { redis, now } = options;
  const freshMs = options.freshMs ?? 30_000;
  const key = (channel: string, account: string) => `${options.prefix}:status:${channel}:${account}`;
  return {
    put: (channel, account, status) =>
      reachingRedis("telling a channel's state", async () => {
        const posted: Posted = { version: 1, at: now(), status };
        await redis
          .multi()
          .hset(key(channel, account), options.process, JSON.stringify(posted))
          .pexpire(key(channel, account), freshMs * 2)
          .exec();
      }),
    read: (channel, account) =>
      reachingRedis("reading a channel's state", async () => {
        const all = Object.values(await redis.hgetall(key(channel, account))).map((json): Posted => JSON.parse(json));
        const fresh = all.filter((posted) => posted.version === 1 && posted.at > now() - freshMs);
        const rank = (posted: Posted) => best.indexOf(posted.status.state);
        return fresh.toSorted((one, other) => rank(one) - rank(other))[0]?.status;
      }),
    remove: (channel, account) =>
      reachingRedis("taking back a channel's state", async () => {
        await redis.hdel(key(channel, account), options.process);
      }),
  };
}
