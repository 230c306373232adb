import { DaleError } from "../errors/index.js";
import type { Connections } from "./connection.js";
import type { Keyspace } from "./keyspace.js";
import type { StoreLogger } from "./logger.js";

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
  /** Ms to wait after the n-th failed run (from 1), unless the error says it. Default 1 s, doubled each time, at most 30 s. */
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

/** All options of a queue, none left open. */
export type OrderedQueueSettings<T> = Required<OrderedQueueOptions<T>>;

/** Where a job that is not at the head of its line waits in BullMQ, ms: long, since its predecessor calls it. */
export const parkMs = 3_600_000;

const dayMs = 86_400_000;

/** @throws DaleError `config_invalid` for a name that BullMQ cannot take, or jobs kept longer than their ids */
export function orderedQueueSettings<T>(options: OrderedQueueOptions<T>): OrderedQueueSettings<T> {
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
  // A finished job whose mark is forgotten would run again when an operator has it retried.
  if (Math.max(settings.keepCompleted.ageMs, settings.keepDead.ageMs) > settings.dedupeTtlMs) {
    throw new DaleError("config_invalid", "Finished jobs may not be kept longer than their ids are remembered.");
  }
  return settings;
}
