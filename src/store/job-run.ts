import { setTimeout as sleep } from "node:timers/promises";
import { DelayedError, type Job, UnrecoverableError } from "bullmq";
import { type ConsumeOptions, PostponeJob, type QueueJob, type RunningJob } from "../queue/index.js";
import { errorCode } from "./error-code.js";
import type { OrderScripts } from "./order-scripts.js";
import { type OrderedQueueSettings, parkMs } from "./ordered-settings.js";
import type { Holding, RunOwnership } from "./run-ownership.js";

export interface JobRuns {
  /** What BullMQ's worker calls for a job that it has locked. */
  run(job: Job, token: string | undefined): Promise<void>;
  /** Leaves a locked job to another worker, or to this one later; not counted as an attempt. */
  giveBack(job: Job, token: string | undefined): Promise<void>;
  /** Tells whoever cares that a job is lost for good; a handful of times if need be. */
  mourn(id: string, key: string, data: unknown, reason: string): Promise<void>;
}

export interface JobRunsOptions<T> {
  readonly settings: OrderedQueueSettings<T>;
  readonly scripts: OrderScripts;
  readonly ownership: RunOwnership;
  readonly handler: (job: RunningJob<T>) => Promise<void>;
  readonly onDead: ConsumeOptions<T>["onDead"] | undefined;
}

const mournTries = 3;

/** From a locked job to its release: the handler runs only at the head of the line, and only as the latest run. */
export function createJobRuns<T>(options: JobRunsOptions<T>): JobRuns {
  const { settings, scripts, ownership, handler } = options;
  const { name, logger, now } = settings;

  async function run(job: Job, token: string | undefined): Promise<void> {
    const id = job.id;
    if (id === undefined || token === undefined) throw new UnrecoverableError("not a job that can be run");
    const holding = ownership.hold(id);
    if (!holding) return await giveBack(job, token);
    try {
      const acquired = await scripts.acquire(job.name, id, token);
      switch (acquired.kind) {
        case "finished":
          return;
        case "lost":
          return leaveAlone();
        case "wait":
          return await park(job, token);
        case "dead":
          throw new UnrecoverableError("it was dead already");
        case "dying":
          await bury(job, id, acquired.fence, acquired.reason);
          throw new UnrecoverableError(acquired.reason);
        case "run":
          if (acquired.crashes <= settings.crashes) return await attempt(job, id, token, acquired, holding);
          await die(job, id, acquired.fence, "stalled_too_often");
          throw new UnrecoverableError("its runs ended with their process too often");
      }
    } finally {
      holding.release();
    }
  }

  async function attempt(
    job: Job,
    id: string,
    token: string,
    { fence, crashes }: { readonly fence: number; readonly crashes: number },
    holding: Holding,
  ): Promise<void> {
    const lastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? settings.attempts);
    const { signal } = holding;
    try {
      const data = settings.parse(job.data);
      await handler({ id, key: job.name, data, attempt: job.attemptsMade + crashes + 1, lastAttempt, fence, signal });
    } catch (error) {
      if (holding.state === "lost") return leaveAlone();
      if (error instanceof PostponeJob) return await postpone(job, token, error.afterMs);
      if (holding.state === "stopped") return await postpone(job, token, 0);
      const code = errorCode(error);
      logger.warn({ queue: name, job: id, attempt: job.attemptsMade + 1, lastAttempt, error: code }, "job failed");
      if (lastAttempt) await die(job, id, fence, code);
      throw error;
    }
    if ((await scripts.release(job.name, id, fence, "done")) === "fenced") leaveAlone();
  }

  async function park(job: Job, token: string): Promise<never> {
    await job.moveToDelayed(now() + parkMs, token);
    // Its predecessor may have left while this job was neither parked nor waiting.
    await scripts.wake(job.name);
    throw new DelayedError();
  }

  async function postpone(job: Job, token: string, afterMs: number): Promise<never> {
    await job.moveToDelayed(now() + Math.max(0, afterMs), token);
    throw new DelayedError();
  }

  async function giveBack(job: Job, token: string | undefined): Promise<never> {
    await job.moveToDelayed(now() + settings.stalledMs, token);
    throw new DelayedError();
  }

  async function die(job: Job, id: string, fence: number, reason: string): Promise<void> {
    if (!(await scripts.condemn(job.name, id, fence, reason))) leaveAlone();
    await bury(job, id, fence, reason);
  }

  async function bury(job: Job, id: string, fence: number, reason: string): Promise<void> {
    logger.error({ queue: name, job: id, reason }, "job is dead");
    await mourn(id, job.name, job.data, reason);
    if ((await scripts.release(job.name, id, fence, "dead")) === "fenced") leaveAlone();
  }

  async function mourn(id: string, key: string, raw: unknown, reason: string): Promise<void> {
    if (!options.onDead) return;
    let dead: QueueJob<T>;
    try {
      dead = { id, key, data: settings.parse(raw) };
    } catch (error) {
      logger.error({ queue: name, job: id, error: errorCode(error) }, "a dead job cannot be read");
      return;
    }
    for (let tries = 1; tries <= mournTries; tries++) {
      try {
        await options.onDead(dead, reason);
        return;
      } catch (error) {
        logger.error({ queue: name, job: id, tries, error: errorCode(error) }, "nobody could be told of a dead job");
        if (tries < mournTries) await sleep(settings.backoff(tries));
      }
    }
  }

  return { run, giveBack, mourn };
}

/** BullMQ then leaves the job where it is, which is no longer here. */
function leaveAlone(): never {
  throw new DelayedError("this run no longer has the job");
}
