import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "bullmq";
import { DaleError } from "../errors/index.js";
import type { ConsumeOptions, QueueConsumer, RunningJob } from "../queue/index.js";
import { hangUp } from "./connection.js";
import { errorCode } from "./error-code.js";
import { createJobRuns } from "./job-run.js";
import { startLineSweeper } from "./line-sweeper.js";
import { createOrderScripts } from "./order-scripts.js";
import type { OrderedQueueSettings } from "./ordered-settings.js";
import { createRunOwnership } from "./run-ownership.js";

const defaultConcurrency = 50;
const defaultGraceMs = 30_000;
/** How long aborted handlers, and BullMQ itself, get to come to an end before they are left behind. */
const farewellMs = 2000;

/** Takes jobs from the queue and runs each at the head of its line. Resolves when it is taking them. */
export async function startOrderedConsumer<T>(
  settings: OrderedQueueSettings<T>,
  handler: (job: RunningJob<T>) => Promise<void>,
  { concurrency = defaultConcurrency, onDead }: ConsumeOptions<T>,
): Promise<QueueConsumer> {
  const { name, logger, connections, keyspace, lockMs, keepCompleted, keepDead } = settings;
  const redis = connections.patient(`worker-${name}`);
  const keys = keyspace.queue(name);
  const scripts = createOrderScripts({ redis, keys, ...settings });
  const ownership = createRunOwnership(lockMs);
  const runs = createJobRuns({ settings, scripts, ownership, handler, onDead });
  const running = new Set<Promise<void>>();
  let paused = false;

  const worker = new Worker(
    name,
    async (job, token) => {
      // BullMQ's worker may take one more job after it was paused.
      const run = paused ? runs.giveBack(job, token) : runs.run(job, token);
      running.add(run);
      await run.finally(() => running.delete(run));
    },
    {
      connection: redis,
      prefix: keyspace.prefix,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: settings.stalledMs,
      // Crashes are counted in job-run.ts, so that a job that dies of them passes through there.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      runRetryDelay: 500,
      removeOnComplete: { age: keepCompleted.ageMs / 1000, count: keepCompleted.count },
      removeOnFail: { age: keepDead.ageMs / 1000, count: keepDead.count },
      settings: { backoffStrategy: (failures, _type, error) => retryAfter(error) ?? settings.backoff(failures) },
    },
  );
  const debug = (what: string) => (error: unknown) => logger.debug({ queue: name, error: errorCode(error) }, what);
  worker.on("error", debug("queue worker"));
  worker.on("locksRenewed", ({ jobIds }) => ownership.renewed(jobIds));
  worker.on("lockRenewalFailed", (ids) => ownership.lost(ids));

  const sweeper = startLineSweeper({
    scripts,
    everyMs: settings.sweepMs,
    async bury({ key, id, state }) {
      if (state === "failed") {
        const data = await redis.hget(keys.base + id, "data");
        await runs.mourn(id, key, data === null ? undefined : JSON.parse(data), "failed_elsewhere");
      }
      await scripts.bury(key, id, state === "failed" ? "dead" : "done");
    },
    onError: debug("sweep of the lines"),
  });

  await worker.waitUntilReady();

  /** True when no run goes on any more, false when they took longer than `ms`. */
  async function idle(ms: number): Promise<boolean> {
    const timeout = sleep(ms, false, { ref: false });
    while (running.size > 0) {
      const drained = Promise.allSettled(running).then(() => true);
      if (!(await Promise.race([drained, timeout]))) return false;
    }
    return true;
  }

  async function shutDown(graceMs: number): Promise<void> {
    sweeper.stop();
    const closed = worker.close().then(() => true);
    if (!(await idle(graceMs))) ownership.stopAll();
    if (!(await Promise.race([closed, sleep(farewellMs, false, { ref: false })]))) {
      logger.warn({ queue: name, left: running.size }, "jobs were left in mid-run; they will run again");
      void worker.disconnect().catch(() => undefined);
    }
    ownership.close();
    await hangUp(redis);
  }

  let closing: Promise<void> | undefined;
  return {
    close(graceMs = defaultGraceMs) {
      closing ??= shutDown(graceMs);
      return closing;
    },
    async pause() {
      paused = true;
      await worker.pause(true);
    },
    async resume() {
      paused = false;
      await worker.resume();
    },
  };
}

function retryAfter(error: Error | undefined): number | undefined {
  return error instanceof DaleError ? error.retryAfterMs : undefined;
}
