import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "bullmq";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createKeyspace } from "../../../src/store/index.js";
import { gate, openQueueRig, type QueueRig } from "../../fixtures/queue-rig.js";

let rig: QueueRig;
beforeEach(async () => {
  rig = await openQueueRig();
});
afterEach(() => rig.close());

async function bullJob(id: string) {
  const job = await rig.bull.getJob(id);
  if (!job) throw new Error(`no job ${id}`);
  return job;
}

/** Everything that the order keeps, but for the marks that outlive their jobs. */
async function leftovers(): Promise<string[]> {
  const keys = await rig.connections.prompt.keys(`${rig.prefix}:order:*`);
  return keys.filter((key) => !key.includes(":mark:"));
}

describe("an operator at the dashboard", () => {
  it("sees each message as a job of its own: the head waits, the others are parked", async () => {
    await rig.add("a", 0, 1, 2);
    expect(await rig.bull.getJobCounts("wait", "delayed")).toEqual({ wait: 1, delayed: 2 });
    const job = await bullJob("a-1");
    expect([job.name, job.data, await job.getState()]).toEqual(["a", { n: 1 }, "delayed"]);
  });

  it("removes a parked job: the others go on in order", async () => {
    const first = gate();
    await rig.add("a", 0, 1, 2);
    await rig.consume(({ data }) => (data.n === 0 ? first.passed : Promise.resolve()));
    await expect.poll(() => rig.runs).toEqual(["a-0"]);
    await (await bullJob("a-1")).remove();
    first.open();
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-2"]);
    expect(await rig.queue.add(rig.job("a", 1))).toBe("duplicate");
    await expect.poll(leftovers).toEqual([]);
  });

  it("removes the head while it waits: the next one goes on by itself", async () => {
    await rig.add("a", 0, 1, 2);
    await (await bullJob("a-0")).remove();
    await rig.consume();
    await expect.poll(() => rig.runs).toEqual(["a-1", "a-2"]);
  });

  it("removes the head while it waits for its retry: the next one goes on by itself", async () => {
    await rig.close();
    rig = await openQueueRig({ backoff: () => 60_000 });
    await rig.add("a", 0, 1);
    await rig.consume(async ({ data }) => {
      if (data.n === 0) throw new Error("no");
    });
    await expect.poll(async () => (await rig.bull.getJobCounts("delayed")).delayed).toBe(2);
    await (await bullJob("a-0")).remove();
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-1"]);
  });

  it("removes the head: the next message of the person does not wait for the sweeper", async () => {
    await rig.close();
    rig = await openQueueRig({ sweepMs: 60_000 });
    await rig.add("a", 0, 1);
    await (await bullJob("a-0")).remove();
    await rig.consume();
    await rig.add("a", 2);
    await expect.poll(() => rig.runs).toEqual(["a-1", "a-2"]);
  });

  it("cannot remove a job that runs", async () => {
    const first = gate();
    await rig.add("a", 0, 1);
    await rig.consume(({ data }) => (data.n === 0 ? first.passed : Promise.resolve()));
    await expect.poll(() => rig.runs).toEqual(["a-0"]);
    await expect((await bullJob("a-0")).remove()).rejects.toThrow();
    first.open();
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-1"]);
  });

  it("promotes a parked job: it waits for its turn all the same", async () => {
    const first = gate();
    await rig.add("a", 0, 1, 2);
    await rig.consume(({ data }) => (data.n === 0 ? first.passed : Promise.resolve()));
    await expect.poll(() => rig.runs).toEqual(["a-0"]);
    await (await bullJob("a-2")).promote();
    await expect.poll(async () => (await bullJob("a-2")).getState()).toBe("delayed");
    expect(rig.runs).toEqual(["a-0"]);
    first.open();
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-1", "a-2"]);
  });

  it("promotes all parked jobs again and again, while they run: their order stays", async () => {
    for (let n = 0; n < 30; n++) await rig.add("a", n);
    const promoting = gate();
    let over = false;
    void (async () => {
      while (!over) await rig.bull.promoteJobs();
      promoting.open();
    })();
    await rig.consume(() => sleep(2));
    await expect.poll(() => rig.runs.length, { timeout: 10_000 }).toBe(30);
    over = true;
    await promoting.passed;
    expect(rig.runs).toEqual(Array.from({ length: 30 }, (_, n) => `a-${n}`));
  });

  it("promotes a job that waits for its retry: it runs at once", async () => {
    await rig.close();
    rig = await openQueueRig({ backoff: () => 60_000 });
    await rig.add("a", 0, 1);
    await rig.consume(async ({ id, attempt }) => {
      if (id === "a-0" && attempt === 1) throw new Error("no");
    });
    await expect.poll(async () => (await rig.bull.getJobCounts("delayed")).delayed).toBe(2);
    await (await bullJob("a-0")).promote();
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-0", "a-1"]);
  });

  it("has a dead job tried again: it runs once more, at the end of its line", async () => {
    let broken = true;
    const last = gate();
    const dead: string[] = [];
    await rig.add("a", 0, 1);
    await rig.consume(
      async ({ data }) => {
        if (data.n === 0 && broken) throw new Error("no");
        if (data.n === 1) await last.passed;
      },
      { onDead: async ({ id }) => void dead.push(id) },
    );
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-0", "a-1"]);
    await expect.poll(async () => (await bullJob("a-0")).getState()).toBe("failed");
    broken = false;
    await (await bullJob("a-0")).retry();
    await sleep(100);
    expect(rig.runs).toEqual(["a-0", "a-0", "a-1"]);
    last.open();
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-0", "a-1", "a-0"]);
    await expect.poll(async () => (await bullJob("a-0")).getState()).toBe("completed");
    expect(dead).toEqual(["a-0"]);
  });

  it("has a completed job tried again: nothing runs twice", async () => {
    await rig.add("a", 0, 1);
    await rig.consume();
    await expect.poll(async () => (await rig.queue.counts()).completed).toBe(2);
    await (await bullJob("a-0")).retry("completed");
    await expect.poll(async () => (await rig.queue.counts()).completed).toBe(2);
    await rig.add("a", 2);
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-1", "a-2"]);
  });

  it("pauses and resumes the queue: nothing runs meanwhile, everything after", async () => {
    await rig.consume();
    await rig.bull.pause();
    await rig.add("a", 0, 1);
    await rig.add("b", 0);
    await sleep(150);
    expect(rig.runs).toEqual([]);
    await rig.bull.resume();
    await expect.poll(() => [...rig.runs].sort()).toEqual(["a-0", "a-1", "b-0"]);
  });

  it.each(["wait", "delayed"] as const)("cleans all jobs in %s: what is added later runs", async (state) => {
    const first = gate();
    await rig.add("a", 0, 1, 2);
    await rig.add("b", 0, 1);
    await rig.bull.clean(0, 1000, state);
    await rig.add("a", 3);
    await rig.add("b", 2);
    await rig.consume(() => first.passed);
    first.open();
    const left = state === "wait" ? ["a-1", "a-2", "a-3", "b-1", "b-2"] : ["a-0", "a-3", "b-0", "b-2"];
    await expect.poll(() => [...rig.runs].sort()).toEqual(left);
    await expect.poll(leftovers).toEqual([]);
  });

  it("cleans the finished jobs while others run", async () => {
    await rig.add("a", 0, 1);
    await rig.consume(async ({ data }) => {
      if (data.n === 0) throw new Error("no");
    });
    await expect.poll(async () => (await rig.queue.counts()).failed).toBe(1);
    await rig.bull.clean(0, 1000, "failed");
    await rig.bull.clean(0, 1000, "completed");
    await rig.add("a", 2);
    await expect.poll(() => rig.runs.at(-1)).toBe("a-2");
    expect(await rig.queue.add(rig.job("a", 0))).toBe("duplicate");
  });

  it("empties the queue: its lines end, and what is added later runs", async () => {
    await rig.add("a", 0, 1, 2);
    await rig.bull.drain(true);
    await rig.consume();
    await expect.poll(leftovers).toEqual([]);
    await rig.add("a", 3);
    await expect.poll(() => rig.runs).toEqual(["a-3"]);
  });

  it("obliterates the queue by force: what runs is told that its job is lost, and what is added later runs", async () => {
    let signal: AbortSignal | undefined;
    await rig.add("a", 0, 1);
    await rig.consume(async (job) => {
      if (job.id !== "a-0") return;
      signal = job.signal;
      await new Promise((_, reject) => job.signal.addEventListener("abort", () => reject(new Error("lost"))));
    });
    await expect.poll(() => rig.runs).toEqual(["a-0"]);
    await rig.bull.obliterate({ force: true });
    await rig.add("a", 2);
    await expect.poll(() => signal?.aborted, { timeout: 3000 }).toBe(true);
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-2"]);
    await expect.poll(leftovers).toEqual([]);
  });

  it("deletes the data of a running job: its successors wait for its end all the same", async () => {
    const first = gate();
    const { base } = createKeyspace(rig.prefix).queue("inbound");
    await rig.add("a", 0, 1);
    await rig.consume(({ data }) => (data.n === 0 ? first.passed : Promise.resolve()));
    await expect.poll(() => rig.runs).toEqual(["a-0"]);
    await rig.connections.prompt.del(`${base}a-0`);
    await rig.add("a", 2);
    await sleep(250);
    expect(rig.runs).toEqual(["a-0"]);
    first.open();
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-1", "a-2"]);
  });

  it("adds a job by hand: it runs in the line of its name", async () => {
    await rig.consume();
    const other = new Queue("inbound", { connection: rig.connections.prompt, prefix: rig.prefix });
    await other.add("a", { n: 7 });
    await expect.poll(() => rig.runs).toEqual(["1"]);
    await rig.add("a", 8);
    await expect.poll(() => rig.runs).toEqual(["1", "a-8"]);
  });

  it("changes a job's data to what nobody can read: it dies, and the line goes on", async () => {
    const dead: string[] = [];
    await rig.add("a", 0, 1);
    await (await bullJob("a-0")).updateData({ key: "b" });
    await rig.consume(undefined, { onDead: async ({ id }) => void dead.push(id) });
    await expect.poll(() => rig.runs).toEqual(["a-1"]);
    await expect.poll(async () => (await rig.queue.counts()).failed).toBe(1);
  });

  it("gives a job a priority: it runs", async () => {
    await rig.add("a", 0, 1);
    await (await bullJob("a-0")).changePriority({ priority: 3 });
    await (await bullJob("a-1")).changePriority({ priority: 3 });
    await rig.consume();
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-1"]);
  });
});

describe("the sweeper", () => {
  it("leaves a job that waits for its retry alone, and so does whoever adds to its line", async () => {
    await rig.close();
    rig = await openQueueRig({ backoff: () => 60_000 });
    await rig.add("a", 0);
    await rig.consume(async () => {
      throw new Error("no");
    });
    await expect.poll(async () => (await rig.bull.getJobCounts("delayed")).delayed).toBe(1);
    await rig.add("a", 1);
    await rig.add("a", 1);
    await sleep(350);
    expect(rig.runs).toEqual(["a-0"]);
  });

  it("wakes the workers again when one that froze has taken the wake-up with it", async () => {
    const { base } = createKeyspace(rig.prefix).queue("inbound");
    const frozen = rig.connections.patient("frozen");
    // Blocked calls are served in the order in which they came.
    const taken = frozen.bzpopmin(`${base}marker`, 0);
    await rig.consume();
    await rig.add("a", 0);
    expect((await taken)?.[1]).toBe("0");
    await expect.poll(() => rig.runs).toEqual(["a-0"]);
  });

  it("finds a head that BullMQ holds nowhere, and one that lost its wake-up", async () => {
    const keys = createKeyspace(rig.prefix).queue("inbound");
    await rig.add("a", 0, 1);
    await rig.add("b", 0);
    await rig.connections.prompt.lrem(`${keys.base}wait`, 0, "a-0");
    await rig.connections.prompt.lrem(`${keys.base}wait`, 0, "b-0");
    await rig.connections.prompt.zadd(`${keys.base}delayed`, (Date.now() + 60_000) * 4096, "b-0");
    await rig.consume();
    await expect.poll(() => [...rig.runs].sort()).toEqual(["a-0", "a-1", "b-0"]);
  });

  it("buries a head that BullMQ has failed by itself, and says so", async () => {
    const keys = createKeyspace(rig.prefix).queue("inbound");
    await rig.add("a", 0, 1);
    await rig.connections.prompt.hset(`${keys.base}a-0`, "defa", "by other hands");
    const dead: unknown[] = [];
    await rig.consume(undefined, {
      onDead: async ({ id, key, data }, reason) => void dead.push([id, key, data, reason]),
    });
    await expect.poll(() => rig.runs).toEqual(["a-1"]);
    expect(dead).toEqual([["a-0", "a", { n: 0 }, "failed_elsewhere"]]);
    expect(await rig.queue.add(rig.job("a", 0))).toBe("duplicate");
    await (await bullJob("a-0")).retry();
    await expect.poll(() => rig.runs).toEqual(["a-1", "a-0"]);
  });
});
