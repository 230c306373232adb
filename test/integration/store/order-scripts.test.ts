import { Worker } from "bullmq";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createKeyspace } from "../../../src/store/index.js";
import { createJobRuns } from "../../../src/store/job-run.js";
import { createOrderScripts, type OrderScripts } from "../../../src/store/order-scripts.js";
import { orderedQueueSettings } from "../../../src/store/ordered-settings.js";
import { createRunOwnership } from "../../../src/store/run-ownership.js";
import { silentLogger } from "../../fixtures/logger.js";
import { openQueueRig, type QueueRig } from "../../fixtures/queue-rig.js";

/** Steps of two workers, one at a time, in orders that are rare in real life. No sweeper mends anything here. */
let rig: QueueRig;
let bull: Worker;
let scripts: OrderScripts;
const tokens = ["one", "two"] as const;
beforeEach(async () => {
  rig = await openQueueRig();
  bull = new Worker("inbound", undefined, {
    connection: rig.connections.patient("hands"),
    prefix: rig.prefix,
    autorun: false,
    lockDuration: 60_000,
  });
  scripts = createOrderScripts({
    redis: rig.connections.prompt,
    keys: createKeyspace(rig.prefix).queue("inbound"),
    now: Date.now,
    dedupeTtlMs: 60_000,
    sweepMs: 60_000,
  });
});
afterEach(async () => {
  await bull.close();
  await rig.close();
});

async function take(token: string) {
  const job = await bull.getNextJob(token, { block: false });
  if (!job) throw new Error("nothing waits");
  return job;
}

async function runOf(id: string, token: string): Promise<number> {
  const acquired = await scripts.acquire("a", id, token);
  if (acquired.kind !== "run") throw new Error(acquired.kind);
  return acquired.fence;
}

describe("taking a job up", () => {
  it("is for the worker alone that BullMQ has given it to", async () => {
    await rig.add("a", 0);
    await take(tokens[0]);
    expect(await scripts.acquire("a", "a-0", tokens[1])).toEqual({ kind: "lost" });
    const fence = await runOf("a-0", tokens[0]);
    expect(await scripts.acquire("a", "a-0", tokens[1])).toEqual({ kind: "lost" });
    expect(await scripts.release("a", "a-0", fence, "done")).toBe("released");
  });

  it("says so when the job has left the line already", async () => {
    await rig.add("a", 0);
    await take(tokens[0]);
    const fence = await runOf("a-0", tokens[0]);
    await scripts.release("a", "a-0", fence, "done");
    expect(await scripts.acquire("a", "a-0", tokens[0])).toEqual({ kind: "finished" });
  });
});

describe("an earlier run", () => {
  it("can neither finish the job nor declare it dead", async () => {
    await rig.add("a", 0, 1);
    await take(tokens[0]);
    const earlier = await runOf("a-0", tokens[0]);
    const later = await runOf("a-0", tokens[0]);
    expect(later).toBeGreaterThan(earlier);
    expect(await scripts.condemn("a", "a-0", earlier, "no")).toBe(false);
    expect(await scripts.release("a", "a-0", earlier, "done")).toBe("fenced");
    expect(await scripts.release("a", "a-0", later, "dead")).toBe("fenced");
    expect(await bull.getNextJob(tokens[1], { block: false })).toBeUndefined();
    expect(await scripts.condemn("a", "a-0", later, "really")).toBe(true);
    expect(await scripts.release("a", "a-0", later, "done")).toBe("fenced");
    expect(await scripts.acquire("a", "a-0", tokens[0])).toMatchObject({ kind: "dying", reason: "really" });
  });

  it("that released the job and did not hear so may release it again", async () => {
    await rig.add("a", 0, 1);
    await take(tokens[0]);
    const fence = await runOf("a-0", tokens[0]);
    expect(await scripts.release("a", "a-0", fence, "done")).toBe("released");
    expect(await scripts.release("a", "a-0", fence, "done")).toBe("finished");
    expect((await take(tokens[1])).id).toBe("a-1");
  });
});

describe("a successor that was on its way back to its place when its predecessor left", () => {
  it("is not forgotten there", async () => {
    await rig.add("a", 0, 1);
    await take(tokens[0]);
    const fence = await runOf("a-0", tokens[0]);
    await (await rig.bull.getJob("a-1"))?.promote();
    const successor = await take(tokens[1]);
    const runs = createJobRuns({
      settings: orderedQueueSettings({
        name: "inbound",
        connections: rig.connections,
        keyspace: createKeyspace(rig.prefix),
        parse: (data) => data,
        logger: silentLogger,
      }),
      scripts: {
        ...scripts,
        async acquire(key, id, token) {
          const acquired = await scripts.acquire(key, id, token);
          expect(acquired).toEqual({ kind: "wait" });
          await scripts.release("a", "a-0", fence, "done");
          return acquired;
        },
      },
      ownership: createRunOwnership(60_000),
      handler: async () => {},
      onDead: undefined,
    });
    await expect(runs.run(successor, tokens[1])).rejects.toMatchObject({ name: "DelayedError" });
    expect((await take(tokens[0])).id).toBe("a-1");
  });
});
