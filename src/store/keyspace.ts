import { DaleError } from "../errors/index.js";

/**
 * Names of the keys of one shard. All of them begin with the shard's hash tag, so that a Redis Cluster keeps them on one
 * node and one script may touch several.
 */
export interface Keyspace {
  /** The hash tag in braces, e.g. `{dale:0}`; also BullMQ's prefix. */
  readonly prefix: string;
  queue(name: string): QueueKeys;
}

/** Keys of one ordered queue. `base` and `marks` are beginnings of keys: a job's id completes them. */
export interface QueueKeys {
  /** BullMQ's own keys of the queue, e.g. `<base>wait`, and its jobs' hashes `<base><id>`. */
  readonly base: string;
  /** List of the ids of a key's jobs that are not finished; only its head may run. */
  line(key: string): string;
  readonly linesBase: string;
  /** Sorted set of the keys that have a line, by the time (ms) when the sweeper is to look at them next. */
  readonly due: string;
  /** What became of a job: `q` waits, `run:<fence>`, `done`, `dead`, `gone`. It outlives the job: the dedupe window. */
  mark(id: string): string;
  readonly marks: string;
  /** The last fence that was given out in this shard, in any queue. */
  readonly fence: string;
}

/** @param shard number of the shard; 0 while there is only one */
export function shardPrefix(shard = 0): string {
  return `{dale:${shard}}`;
}

/** @param prefix holds exactly one hash tag, and nothing before it */
export function createKeyspace(prefix: string): Keyspace {
  if (!/^\{[^{}]+\}$/.test(prefix)) {
    throw new DaleError("config_invalid", "A key prefix has to be one hash tag in braces, like {dale:0}.");
  }
  return {
    prefix,
    queue(name) {
      const own = `${prefix}:order:${name}`;
      return {
        base: `${prefix}:${name}:`,
        line: (key) => `${own}:line:${key}`,
        linesBase: `${own}:line:`,
        due: `${own}:due`,
        mark: (id) => `${own}:mark:${id}`,
        marks: `${own}:mark:`,
        fence: `${prefix}:fence`,
      };
    },
  };
}
