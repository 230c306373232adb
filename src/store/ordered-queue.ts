import { Queue } from "bullmq";
import { DaleError } from "../errors/index.js";
import type { OrderedQueue, QueueConsumer } from "../queue/index.js";
import type { Connections } from "./connection.js";
import { errorCode } from "./connection.js";
import type { Keyspace } from "./keyspace.js";
import type { StoreLogger } from "./logger.js";
import { createOrderScripts } from "./order-scripts.js";
import { startOrderedConsumer } from "./ordered-consumer.js";
import { reachingRedis } from "./script.js";

export interface OrderedQueueOptions<T> {
  /** Also BullMQ's name of the queue; letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  readonly connections: Connections;
  readonly keyspace: Keyspace;
  /** Reads a job's data back. What it throws is a failed attempt: a newer build may know what this one does not. */
  readonly parse: (data: unknown) => T;
  readonly logger: StoreLogger;
  /** Failed runs until a job is dead. Default 3. */
  readonly attempts?: number;
  /** Runs that ended with their process until a job is dead: it may be what kills them. Default 5. */
  readonly crashes?: number;
  /** Ms to wait after the n-th failed run (from 1). Default 1 s, doubled each time, at most 30 s. */
  readonly backoff?: (failures: number) => number;
  /** How long an id is remembered after its job has left the line, ms. Default 8 days: WhatsApp repeats for 7. */
  readonly dedupeTtlMs?: number;
  /** How long a job stays its worker's without a sign of life, ms. Renewed at half of it. Default 5000. */
  readonly lockMs?: number;
  /** How often it is looked for jobs whose worker died, ms. Default 1000. */
  readonly stalledMs?: number;
  /** How often it is looked for lines that should move and do not, ms. Default 1000. */
  readonly sweepMs?: number;
  /** Finished jobs that stay visible. Default: an hour or 1000. */
  readonly keepCompleted?: Keep;
  /** Dead jobs that stay visible. Default: 7 days or 5000. */
  readonly keepDead?: Keep;
  /** Ms since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

export interface Keep {
  readonly ageMs: number;
  readonly count: number;
}

/** All settings of a queue, none left open. */
export type OrderedQueueSettings<T> = Required<OrderedQueueOptions<T>>;

export interface BullOrderedQueue<T> {
  readonly queue: OrderedQueue<T>;
  /** For a dashboard: what an operator does through it never blocks a key for good. Add jobs by `queue` alone. */
  readonly bull: Queue;
}

/** Where a job that is not at the head of its line waits in BullMQ, ms: long, since its predecessor calls it. */
export const parkMs = 3_600_000;

const dayMs = 86_400_000;

/**
 * An ordered queue on BullMQ. Each job is one BullMQ job, named by its key.
 * @throws DaleError `config_invalid` for a name that BullMQ cannot take, or finished jobs kept longer than their ids
 */
export function createBullOrderedQueue<T>(options: OrderedQueueOptions<T>): BullOrderedQueue<T> {
  const settings = withDefaults(options);
  const { name, connections, keyspace, logger } = settings;
  const keys = keyspace.queue(name);
  const scripts = createOrderScripts({ redis: connections.prompt, keys, ...settings });
  const bull = new Queue(name, { connection: connections.prompt, prefix: keyspace.prefix });
  bull.on("error", (error) => logger.debug({ queue: name, error: errorCode(error) }, "queue connection failed"));
  const jobOptions = JSON.stringify({ attempts: settings.attempts, backoff: { type: "ordered" } });
  const consumers = new Set<QueueConsumer>();

  const queue: OrderedQueue<T> = {
    name,
    async add(job) {
      refuseBadId(job.id);
      const data = JSON.stringify(job.data);
      return scripts.enqueue({ id: job.id, key: job.key, data }, jobOptions, settings.now() + parkMs);
    },
    async consume(handler, consumeOptions = {}) {
      const consumer = await startOrderedConsumer(settings, handler, consumeOptions);
      consumers.add(consumer);
      return {
        ...consumer,
        async close(graceMs) {
          await consumer.close(graceMs);
          consumers.delete(consumer);
        },
      };
    },
    async counts() {
      const counts = await reachingRedis("counts", () =>
        bull.getJobCounts("wait", "prioritized", "delayed", "active", "failed", "completed"),
      );
      const of = (state: string) => counts[state] ?? 0;
      return {
        waiting: of("wait") + of("prioritized") + of("delayed"),
        active: of("active"),
        failed: of("failed"),
        completed: of("completed"),
      };
    },
    async close() {
      await Promise.all([...consumers].map((consumer) => consumer.close()));
      consumers.clear();
      await bull.close().catch(() => undefined);
    },
  };
  return { queue, bull };
}

function withDefaults<T>(options: OrderedQueueOptions<T>): OrderedQueueSettings<T> {
  const settings: OrderedQueueSettings<T> = {
    attempts: 3,
    crashes: 5,
    backoff: (failures) => Math.min(1000 * 2 ** (failures - 1), 30_000),
    dedupeTtlMs: 8 * dayMs,
    lockMs: 5000,
    stalledMs: 1000,
    sweepMs: 1000,
    keepCompleted: { ageMs: dayMs / 24, count: 1000 },
    keepDead: { ageMs: 7 * dayMs, count: 5000 },
    now: Date.now,
    ...options,
  };
  if (!/^[\w.-]+$/.test(settings.name)) {
    throw new DaleError(
      "config_invalid",
      "A queue's name may hold letters, digits, dots, underscores and hyphens only.",
    );
  }
  // A job that an operator retries after its mark is forgotten would run again, although it is done.
  if (Math.max(settings.keepCompleted.ageMs, settings.keepDead.ageMs) > settings.dedupeTtlMs) {
    throw new DaleError("config_invalid", "Finished jobs may not be kept longer than their ids are remembered.");
  }
  return settings;
}

function refuseBadId(id: string): void {
  if (id === "" || id.includes(":") || /^\d+$/.test(id)) {
    throw new DaleError("config_invalid", "A job's id may not be empty, hold a colon, or be digits alone.");
  }
}
