import { Redis, type RedisOptions } from "ioredis";
import { DaleError } from "../errors/index.js";
import { errorCode } from "./error-code.js";
import type { StoreLogger } from "./logger.js";
import { reachingRedis } from "./script.js";
import { inspectServer } from "./server-check.js";

export type RedisAddress =
  | { readonly url: string }
  /** Path of a unix socket: a redis-server of our own. */
  | { readonly socket: string };

export interface ConnectionsOptions {
  readonly address: RedisAddress;
  readonly logger: StoreLogger;
  /** How long a request of `prompt` may take, ms. Default 1500. */
  readonly commandTimeoutMs?: number;
  /** How long Redis may be away before `onLost` is called, ms. Default 30 000. */
  readonly lostAfterMs?: number;
  /** Called once for each time that Redis was away for so long. A supervisor should restart the process. */
  readonly onLost?: (awayMs: number) => void;
}

/** All connections of a process. They reconnect by themselves, for as long as it takes. */
export interface Connections {
  /**
   * For everything that somebody waits for: fails at once when Redis is away, within `commandTimeoutMs` when it hangs.
   * What failed may have been applied all the same.
   */
  readonly prompt: Redis;
  /** A new connection that waits for Redis as long as it takes: a worker's. It is closed with the others. */
  patient(name: string): Redis;
  /** A new connection for subscriptions and blocking reads. It resubscribes by itself. */
  subscriber(name: string): Redis;
  /**
   * Waits until Redis answers, then looks whether it is fit for us.
   * @throws DaleError `store_unavailable` when it did not answer in time; `store_unfit` when it is too old or may evict
   */
  ready(timeoutMs?: number): Promise<void>;
  /** @throws DaleError `store_unavailable` */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const watchEveryMs = 1000;

/** Without the one option whose type changes what replies are. */
type Settings = Omit<RedisOptions, "replyMapping">;

/** Connects at once, in the background; `ready` tells when it has worked. */
export function createConnections(options: ConnectionsOptions): Connections {
  const { logger } = options;
  const opened = new Set<Redis>();
  let closing = false;

  const open = (name: string, more: Settings): Redis => {
    const settings: Settings = {
      connectionName: `dale-${name}`,
      retryStrategy: (tries) => Math.min(25 * 2 ** Math.min(tries, 6), 1000),
      // A replica that was promoted, or a primary that was demoted: find the new one.
      reconnectOnError: (error) => error.message.startsWith("READONLY"),
      ...more,
    };
    const redis =
      "url" in options.address
        ? new Redis(options.address.url, settings)
        : new Redis({ ...settings, path: options.address.socket });
    redis.on("error", (error) =>
      logger.debug({ connection: name, error: errorCode(error) }, "redis connection failed"),
    );
    redis.once("end", () => opened.delete(redis));
    opened.add(redis);
    return redis;
  };

  const prompt = open("prompt", {
    enableOfflineQueue: false,
    commandTimeout: options.commandTimeoutMs ?? 1500,
    connectTimeout: 5000,
    maxRetriesPerRequest: 1,
  });
  const ping = () =>
    reachingRedis("ping", async () => {
      await prompt.ping();
    });

  const watch = watchPresence(ping, options);

  return {
    prompt,
    patient: (name) => open(name, { maxRetriesPerRequest: null }),
    subscriber: (name) => open(name, { maxRetriesPerRequest: null }),
    ping,
    async ready(timeoutMs = 10_000) {
      await answered(prompt, timeoutMs);
      await inspectServer(prompt, logger);
    },
    async close() {
      if (closing) return;
      closing = true;
      clearInterval(watch);
      await Promise.all([...opened].map(hangUp));
    },
  };
}

/** Says goodbye where somebody listens; ends the connection in any case. */
export async function hangUp(redis: Redis): Promise<void> {
  if (redis.status === "ready") {
    const timer = setTimeout(() => redis.disconnect(), 1000);
    await redis.quit().catch(() => undefined);
    clearTimeout(timer);
  }
  redis.disconnect();
}

function answered(redis: Redis, timeoutMs: number): Promise<void> {
  if (redis.status === "ready") return Promise.resolve();
  return new Promise((resolve, reject) => {
    let last: unknown;
    const failed = (error: unknown) => {
      last = error;
    };
    const settle = (end: () => void) => {
      clearTimeout(timer);
      redis.off("error", failed);
      redis.off("ready", ready);
      end();
    };
    const ready = () => settle(resolve);
    const timer = setTimeout(
      () =>
        settle(() =>
          reject(
            new DaleError("store_unavailable", `Redis did not answer within ${timeoutMs} ms (${errorCode(last)}).`, {
              cause: last,
            }),
          ),
        ),
      timeoutMs,
    );
    redis.on("error", failed);
    redis.once("ready", ready);
  });
}

function watchPresence(ping: () => Promise<void>, options: ConnectionsOptions): NodeJS.Timeout {
  const { logger, lostAfterMs = 30_000 } = options;
  let seen = performance.now();
  let away = false;
  let told = false;
  let asking = false;
  const timer = setInterval(async () => {
    if (asking) return;
    asking = true;
    try {
      await ping();
      if (away) logger.info({ awayMs: Math.round(performance.now() - seen) }, "redis is back");
      seen = performance.now();
      away = false;
      told = false;
    } catch (error) {
      const awayMs = Math.round(performance.now() - seen);
      if (!away) logger.warn({ error: errorCode(error) }, "redis does not answer");
      away = true;
      if (awayMs >= lostAfterMs && !told) {
        told = true;
        logger.error({ awayMs }, "redis has been away for too long");
        options.onLost?.(awayMs);
      }
    } finally {
      asking = false;
    }
  }, watchEveryMs);
  timer.unref();
  return timer;
}
