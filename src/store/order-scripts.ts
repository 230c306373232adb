import type { Redis } from "ioredis";
import { DaleError } from "../errors/index.js";
import type { QueueKeys } from "./keyspace.js";
import { acquireLua, buryLua, condemnLua, enqueueLua, releaseLua, sweepLua, wakeLua } from "./order-lua.js";
import { createScript, type Script } from "./script.js";

const scripts = {
  enqueue: createScript(enqueueLua),
  acquire: createScript(acquireLua),
  condemn: createScript(condemnLua),
  release: createScript(releaseLua),
  wake: createScript(wakeLua),
  sweep: createScript(sweepLua),
  bury: createScript(buryLua),
} satisfies Record<string, Script>;

export type Acquired =
  /** @see RunningJob.fence; `crashes` are runs of this job that ended with their process */
  | { readonly kind: "run"; readonly fence: number; readonly crashes: number }
  | { readonly kind: "dying"; readonly fence: number; readonly reason: string }
  | { readonly kind: "dead" }
  | { readonly kind: "wait" }
  | { readonly kind: "finished" }
  | { readonly kind: "lost" };

export type Released = "released" | "finished" | "fenced";
export type Outcome = "done" | "dead";

export interface Unburied {
  readonly key: string;
  readonly id: string;
  readonly state: "completed" | "failed";
}

export interface OrderScriptsOptions {
  readonly redis: Redis;
  readonly keys: QueueKeys;
  readonly now: () => number;
  readonly dedupeTtlMs: number;
  /** After how long without progress the sweeper looks at a line. */
  readonly sweepMs: number;
}

/** The scripts of one queue on one connection; their replies as types. Each is one atomic step. */
export interface OrderScripts {
  enqueue(
    job: { readonly id: string; readonly key: string; readonly data: string },
    opts: string,
    parkUntil: number,
  ): Promise<"queued" | "duplicate">;
  acquire(key: string, id: string, token: string): Promise<Acquired>;
  /** From now on the job does not run any more. False when a later run has it. */
  condemn(key: string, id: string, fence: number, reason: string): Promise<boolean>;
  release(key: string, id: string, fence: number, outcome: Outcome): Promise<Released>;
  wake(key: string): Promise<void>;
  /** @returns how many lines were looked at, and the heads that have to be buried */
  sweep(limit: number): Promise<{ readonly looked: number; readonly unburied: readonly Unburied[] }>;
  bury(key: string, id: string, outcome: Outcome): Promise<boolean>;
}

const buryAgainMs = 30_000;

export function createOrderScripts(options: OrderScriptsOptions): OrderScripts {
  const { redis, keys } = options;
  const run = (name: keyof typeof scripts, key: string, more: readonly (string | number)[]) =>
    scripts[name].run(
      redis,
      name,
      [keys.line(key), keys.due, keys.fence],
      [keys.base, keys.marks, key, options.now(), options.dedupeTtlMs, options.sweepMs, ...more],
    );

  return {
    async enqueue(job, opts, parkUntil) {
      const reply = await run("enqueue", job.key, [job.id, job.data, opts, parkUntil]);
      return reply === 1 ? "queued" : "duplicate";
    },
    async acquire(key, id, token) {
      const [kind, fence, more] = texts(await run("acquire", key, [id, token]));
      if (kind === "run") return { kind, fence: Number(fence), crashes: Number(more) };
      if (kind === "dying") return { kind, fence: Number(fence), reason: more ?? "" };
      if (kind === "dead" || kind === "wait" || kind === "finished" || kind === "lost") return { kind };
      throw unexpected("acquire");
    },
    async condemn(key, id, fence, reason) {
      return (await run("condemn", key, [id, fence, reason])) === 1;
    },
    async release(key, id, fence, outcome) {
      const reply = await run("release", key, [id, fence, outcome]);
      if (reply === "released" || reply === "finished" || reply === "fenced") return reply;
      throw unexpected("release");
    },
    async wake(key) {
      await run("wake", key, []);
    },
    async sweep(limit) {
      const reply = texts(await run("sweep", "", [keys.linesBase, limit, buryAgainMs]));
      const unburied: Unburied[] = [];
      for (let at = 0; at + 2 < reply.length; at += 3) {
        const [key = "", id = "", state] = reply.slice(at, at + 3);
        unburied.push({ key, id, state: state === "completed" ? "completed" : "failed" });
      }
      return { looked: Number(reply.at(-1)), unburied };
    },
    async bury(key, id, outcome) {
      return (await run("bury", key, [id, outcome])) === 1;
    },
  };
}

function texts(reply: unknown): string[] {
  if (!Array.isArray(reply)) throw unexpected("a list");
  return reply.map(String);
}

function unexpected(what: string): DaleError {
  return new DaleError("store_unavailable", `Redis gave a reply that is no reply to this script: ${what}.`);
}
