import { Queue } from "bullmq";
import { DaleError } from "../errors/index.js";
import type { OrderedQueue, QueueConsumer } from "../queue/index.js";
import { errorCode } from "./error-code.js";
import { createOrderScripts } from "./order-scripts.js";
import { startOrderedConsumer } from "./ordered-consumer.js";
import { type OrderedQueueOptions, orderedQueueSettings, parkMs } from "./ordered-settings.js";
import { reachingRedis } from "./script.js";

export interface BullOrderedQueue<T> {
  readonly queue: OrderedQueue<T>;
  /** For a dashboard: what an operator does through it never blocks a key for good. Add jobs by `queue` alone. */
  readonly bull: Queue;
}

/**
 * An ordered queue on BullMQ. Each job is one BullMQ job, named by its key; how their order is kept is told in
 * order-lua.ts.
 * @throws DaleError `config_invalid` for options that cannot work
 */
export function createBullOrderedQueue<T>(options: OrderedQueueOptions<T>): BullOrderedQueue<T> {
  const settings = orderedQueueSettings(options);
  const { name, connections, keyspace, logger } = settings;
  const scripts = createOrderScripts({ redis: connections.prompt, keys: keyspace.queue(name), ...settings });
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
      // The connection is not the queue's own: there is nothing to wait for.
      void bull.close().catch(() => undefined);
    },
  };
  return { queue, bull };
}

function refuseBadId(id: string): void {
  if (id === "" || id.includes(":") || /^\d+$/.test(id)) {
    throw new DaleError("config_invalid", "A job's id may not be empty, hold a colon, or be digits alone.");
  }
}
