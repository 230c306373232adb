/**
 * The queue port: jobs that run strictly in order within a key, and never wait for another key's jobs.
 * `src/store` implements it on BullMQ; `src/turns` and `src/outbound` use it. It holds no code and knows no Redis.
 *
 * What an implementation promises (its contract suite is test/contracts/ordered-queue.ts):
 * 1. A job runs only at the head of its key's line.
 * 2. `add` resolves only after job and place in line are durably written, in one step; it rejects otherwise.
 * 3. The same id is added once, for as long as the dedupe window lasts, which outlives the job.
 * 4. A job that failed keeps its place until its attempts are used up; then its successors go on.
 * 5. After a crash a job runs again (so handlers are idempotent by id); a zombie cannot release what is no longer its own.
 * 6. Whatever an operator does in a dashboard (remove, promote, retry, clean), no key is blocked for good.
 */

export interface QueueJob<T> {
  /** Unique for ever within the queue. No colon, not all digits (BullMQ). Opaque: no phone numbers. */
  readonly id: string;
  /** The line that the job stands in: a session id. */
  readonly key: string;
  readonly data: T;
}

export interface RunningJob<T> extends QueueJob<T> {
  /** 1 for the first run. Runs after a crash count too. */
  readonly attempt: number;
  /** True when a failure of this run is final. */
  readonly lastAttempt: boolean;
  /** Grows with every run of any job of the shard: the newer run of a job has the larger fence. */
  readonly fence: number;
  /** Aborted when this run is no longer the job's owner, or when the process stops and the grace period is over. */
  readonly signal: AbortSignal;
}

/** What a handler may say about a job that it could not do now. Anything else thrown is a failed attempt. */
export class PostponeJob extends Error {
  /** @param afterMs when to run again, in milliseconds; the attempt is not counted and the place in line is kept */
  constructor(readonly afterMs: number) {
    super("postponed");
    this.name = "PostponeJob";
  }
}

export interface QueueConsumer {
  /** Stops taking jobs, waits for those that run (at most `graceMs`, then their signals abort), then closes. */
  close(graceMs?: number): Promise<void>;
  /** Stops taking jobs until `resume`; those that run go on. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export interface ConsumeOptions<T> {
  /** Jobs of different keys that run at the same time in this process. Default 50. */
  readonly concurrency?: number;
  /**
   * Called once when a job has failed for good, whatever the way (attempts used up, or stalled too often without the
   * handler being called). Its successors go on after this has resolved, or after it has failed three times.
   */
  readonly onDead?: (job: QueueJob<T>, reason: string) => Promise<void>;
}

export interface QueueCounts {
  /** Jobs that wait for a worker, and those parked behind another job of their key. */
  readonly waiting: number;
  readonly active: number;
  readonly failed: number;
  readonly completed: number;
}

export interface OrderedQueue<T> {
  readonly name: string;
  /** @throws DaleError `store_unavailable` when it is not certain that the job was written */
  add(job: QueueJob<T>): Promise<"queued" | "duplicate">;
  consume(handler: (job: RunningJob<T>) => Promise<void>, options?: ConsumeOptions<T>): Promise<QueueConsumer>;
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}
