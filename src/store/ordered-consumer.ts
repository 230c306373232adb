import { setTimeout as sleep } from "node:timers/promises";
import { DelayedError, type Job, UnrecoverableError, Worker } from "bullmq";
import { DaleError } from "../errors/index.js";
import {
  type ConsumeOptions,
  PostponeJob,
  type QueueConsumer,
  type QueueJob,
  type RunningJob,
} from "../queue/index.js";
import { errorCode, hangUp } from "./connection.js";
import { createOrderScripts, type Unburied } from "./order-scripts.js";
import { type OrderedQueueSettings, parkMs } from "./ordered-queue.js";
import { createRunOwnership, type Holding } from "./run-ownership.js";

const defaultConcurrency = 50;
const defaultGraceMs = 30_000;
/** How long aborted handlers get to come back before they are left behind. */
const abortedMs = 2000;
const deadTries = 3;
const sweepLimit = 500;

/** Takes jobs from the queue and runs them, each at the head of its line. */
export async function startOrderedConsumer<T>(
  settings: OrderedQueueSettings<T>,
  handler: (job: RunningJob<T>) => Promise<void>,
  options: ConsumeOptions<T>,
): Promise<QueueConsumer> {
  const { name, logger, now } = settings;
  const redis = settings.connections.patient(`worker-${name}`);
  const keys = settings.keyspace.queue(name);
  const scripts = createOrderScripts({ redis, keys, ...settings });
  const ownership = createRunOwnership(settings.lockMs);
  let stopping = false;

  async function work(job: Job, token: string | undefined): Promise<void> {
    const id = job.id;
    if (id === undefined || token === undefined) throw new UnrecoverableError("no job");
    const holding = ownership.hold(id);
    try {
      const acquired = await scripts.acquire(job.name, id, token);
      if (acquired.kind === "finished") return;
      if (acquired.kind === "lost") throw new DelayedError("this worker no longer has the job");
      if (acquired.kind === "wait") {
        await job.moveToDelayed(now() + parkMs, token);
        // Its predecessor may have finished while this job was neither parked nor waiting.
        await scripts.wake(job.name);
        throw new DelayedError();
      }
      if (acquired.crashes > settings.crashes) {
        await die(job, acquired.fence, "stalled_too_often");
        throw new UnrecoverableError("runs of this job ended with their process too often");
      }
      await attempt(job, id, token, acquired.fence, acquired.crashes, holding);
    } finally {
      holding.release();
    }
  }

  async function attempt(job: Job, id: string, token: string, fence: number, crashes: number, holding: Holding) {
    const lastAttempt = job.attemptsMade + 1 >= settings.attempts;
    try {
      await handler({
        id,
        key: job.name,
        data: settings.parse(job.data),
        attempt: job.attemptsMade + crashes + 1,
        lastAttempt,
        fence,
        signal: holding.signal,
      });
    } catch (error) {
      const stopped = holding.state === "stopped";
      if (error instanceof PostponeJob || stopped) {
        await job.moveToDelayed(now() + (stopped ? 0 : Math.max(0, (error as PostponeJob).afterMs)), token);
        throw new DelayedError();
      }
      logger.warn(
        { queue: name, job: id, attempt: job.attemptsMade + 1, lastAttempt, error: errorCode(error) },
        "job failed",
      );
      if (!lastAttempt) throw error;
      await die(job, fence, errorCode(error));
      throw new UnrecoverableError(messageOf(error));
    }
    const released = await scripts.release(job.name, id, fence, "done");
    if (released === "fenced") throw new DelayedError("a later run has the job");
  }

  /** The job is lost for good: whoever cares is told, then its successors go on. */
  async function die(job: Job, fence: number, reason: string): Promise<void> {
    const id = job.id ?? "";
    logger.error({ queue: name, job: id, reason }, "job is dead");
    await mourn(id, job.name, job.data, reason);
    await scripts.release(job.name, id, fence, "dead");
  }

  async function mourn(id: string, key: string, raw: unknown, reason: string): Promise<void> {
    if (!options.onDead) return;
    for (let tries = 1; tries <= deadTries; tries++) {
      try {
        const dead: QueueJob<T> = { id, key, data: settings.parse(raw) };
        await options.onDead(dead, reason);
        return;
      } catch (error) {
        logger.error({ queue: name, job: id, tries, error: errorCode(error) }, "nobody could be told of a dead job");
        if (tries < deadTries) await sleep(settings.backoff(tries));
      }
    }
  }

  const worker = new Worker(name, work, {
    connection: redis,
    prefix: settings.keyspace.prefix,
    concurrency: options.concurrency ?? defaultConcurrency,
    lockDuration: settings.lockMs,
    stalledInterval: settings.stalledMs,
    // We count crashes ourselves, so that a job that dies of them passes through here.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    runRetryDelay: 500,
    removeOnComplete: { age: settings.keepCompleted.ageMs / 1000, count: settings.keepCompleted.count },
    removeOnFail: { age: settings.keepDead.ageMs / 1000, count: settings.keepDead.count },
    settings: { backoffStrategy: (made, _type, error) => retryAfter(error) ?? settings.backoff(made) },
  });
  worker.on("error", (error) => logger.debug({ queue: name, error: errorCode(error) }, "worker"));
  worker.on("locksRenewed", ({ jobIds }) => ownership.renewed(jobIds));
  worker.on("lockRenewalFailed", (ids) => ownership.lost(ids));

  async function bury({ key, id, state }: Unburied): Promise<void> {
    if (state === "failed") {
      const raw = await redis.hget(keys.base + id, "data");
      await mourn(id, key, raw === null ? undefined : JSON.parse(raw), "failed_elsewhere");
    }
    await scripts.bury(key, id, state === "failed" ? "dead" : "done");
  }

  async function sweep(): Promise<void> {
    for (;;) {
      const { looked, unburied } = await scripts.sweep(sweepLimit);
      for (const head of unburied) await bury(head);
      if (looked < sweepLimit || stopping) return;
    }
  }

  let sweeping = Promise.resolve();
  const sweeper = setInterval(() => {
    sweeping = sweeping
      .then(sweep)
      .catch((error) => logger.debug({ queue: name, error: errorCode(error) }, "sweep failed"));
  }, settings.sweepMs);
  sweeper.unref();

  await worker.waitUntilReady();

  async function shutDown(graceMs: number): Promise<void> {
    stopping = true;
    clearInterval(sweeper);
    const closed = worker.close();
    const inTime = () => Promise.race([closed.then(() => true), sleep(graceMs, false, { ref: false })]);
    if (!(await inTime())) {
      ownership.stopAll();
      const back = await Promise.race([closed.then(() => true), sleep(abortedMs, false, { ref: false })]);
      if (!back) logger.warn({ queue: name }, "handlers were left behind; their jobs will run again elsewhere");
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
      await worker.pause(true);
    },
    async resume() {
      await worker.resume();
    },
  };
}

function retryAfter(error: Error | undefined): number | undefined {
  return error instanceof DaleError ? error.retryAfterMs : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
