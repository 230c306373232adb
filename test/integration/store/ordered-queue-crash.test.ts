import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { createKeyspace } from "../../../src/store/index.js";
import { startChild, type TestChild } from "../../fixtures/child-process.js";
import { openQueueRig, type QueueRig } from "../../fixtures/queue-rig.js";

const options = { attempts: 2, crashes: 2, lockMs: 500, stalledMs: 100, sweepMs: 100 };

let rig: QueueRig;
const children: TestChild[] = [];
beforeEach(async () => {
  rig = await openQueueRig(options);
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
  await rig.close();
});

async function worker(behaviour: { poison?: string[]; hang?: string[] } = {}): Promise<TestChild> {
  const child = await startChild("poisoned-worker.ts", {
    socket: inject("redisSocket"),
    prefix: rig.prefix,
    options,
    ...behaviour,
  });
  children.push(child);
  expect(await child.message()).toBe("ready");
  return child;
}

const mark = (id: string) => rig.connections.prompt.get(createKeyspace(rig.prefix).queue("inbound").mark(id));

describe("a worker process that is killed", () => {
  it("in mid-run: the job runs again elsewhere, with a larger fence, before its successors", async () => {
    await rig.add("a", 0, 1);
    const first = await worker({ hang: ["a-0"] });
    const begun = await first.message();
    expect(begun).toMatchObject({ run: "a-0", attempt: 1 });
    first.kill("SIGKILL");
    const seen: unknown[] = [];
    await rig.consume(async ({ id, attempt, fence }) => void seen.push({ run: id, attempt, fence }));
    await expect.poll(() => seen).toMatchObject([{ run: "a-0", attempt: 2 }, { run: "a-1" }]);
    expect(fenceOf(seen[0])).toBeGreaterThan(fenceOf(begun));
  });

  it("by its own job, each time: the job is dead without being run again, and its successors go on", async () => {
    await rig.add("a", 0, 1);
    for (let crash = 0; crash < 3; crash++) {
      const child = await worker({ poison: ["a-0"] });
      expect(await child.message()).toMatchObject({ run: "a-0", attempt: crash + 1 });
      await child.exited;
    }
    const dead: unknown[] = [];
    await rig.consume(undefined, { onDead: async ({ id }, reason) => void dead.push([id, reason]) });
    await expect.poll(() => rig.runs).toEqual(["a-1"]);
    expect(dead).toEqual([["a-0", "stalled_too_often"]]);
    await expect.poll(() => rig.queue.counts()).toMatchObject({ failed: 1, active: 0, waiting: 0 });
  });

  it("while it tells of a dead job: another one tells it again, and does not run the job", async () => {
    await rig.close();
    rig = await openQueueRig({ ...options, attempts: 1 });
    await rig.add("a", 0, 1);
    const gone = await startChild("poisoned-worker.ts", {
      socket: inject("redisSocket"),
      prefix: rig.prefix,
      options: { ...options, crashes: -1 },
      hang: ["dead a-0"],
    });
    children.push(gone);
    expect(await gone.message()).toBe("ready");
    expect(await gone.message()).toEqual({ dead: "a-0", reason: "stalled_too_often" });
    gone.kill("SIGKILL");
    const dead: unknown[] = [];
    await rig.consume(undefined, { onDead: async ({ id }, reason) => void dead.push([id, reason]) });
    await expect.poll(() => rig.runs).toEqual(["a-1"]);
    expect(dead).toEqual([["a-0", "stalled_too_often"]]);
  });

  it("after its job had left the line and before BullMQ knew: the job does not run again", async () => {
    const keys = createKeyspace(rig.prefix).queue("inbound");
    await rig.add("a", 0, 1);
    const child = await worker({ hang: ["a-0"] });
    expect(await child.message()).toMatchObject({ run: "a-0" });
    child.kill("SIGKILL");
    await child.exited;
    // What its release would have written; BullMQ still holds the job for active.
    await rig.connections.prompt.multi().set(keys.mark("a-0"), "done").lpop(keys.line("a")).exec();
    await rig.consume();
    await expect.poll(() => rig.runs).toEqual(["a-1"]);
    await expect.poll(async () => (await rig.queue.counts()).completed).toBe(2);
    expect(rig.runs).toEqual(["a-1"]);
  });

  it("after a dead job had left the line and before BullMQ knew: the job does not run again", async () => {
    const keys = createKeyspace(rig.prefix).queue("inbound");
    await rig.add("a", 0, 1);
    const child = await worker({ hang: ["a-0"] });
    expect(await child.message()).toMatchObject({ run: "a-0" });
    child.kill("SIGKILL");
    await child.exited;
    const step = rig.connections.prompt.multi();
    await step.set(keys.mark("a-0"), "dead").hset(`${keys.base}a-0`, "stc", 0).lpop(keys.line("a")).exec();
    await rig.consume();
    await expect.poll(() => rig.runs).toEqual(["a-1"]);
    await expect.poll(async () => (await rig.queue.counts()).failed).toBe(1);
    expect(rig.runs).toEqual(["a-1"]);
  });
});

describe("a worker process that was frozen", () => {
  it("comes back as a zombie: it is told so, and can release nothing that another one has", async () => {
    await rig.add("a", 0, 1);
    const zombie = await worker({ hang: ["a-0"] });
    const begun = await zombie.message();
    zombie.kill("SIGSTOP");
    let finish: (() => void) | undefined;
    const seen: unknown[] = [];
    await rig.consume(async ({ id, fence }) => {
      seen.push({ run: id, fence });
      if (id === "a-0") await new Promise<void>((resolve) => (finish = resolve));
    });
    await expect.poll(() => seen).toMatchObject([{ run: "a-0" }]);
    expect(fenceOf(seen[0])).toBeGreaterThan(fenceOf(begun));
    zombie.kill("SIGCONT");
    await sleep(300);
    expect(await mark("a-0")).toBe(`run:${fenceOf(seen[0])}`);
    expect(seen).toHaveLength(1);
    finish?.();
    // Either may take the next one: who was frozen is a worker like any other.
    await expect.poll(async () => (await rig.queue.counts()).completed).toBe(2);
  });

  it("finishes its run although another one has begun: the later run's release counts", async () => {
    const keys = createKeyspace(rig.prefix).queue("inbound");
    const { runs, two } = await twoWorkers();
    await rig.add("a", 0, 1);
    await expect.poll(() => runs).toHaveLength(1);
    // As if the process had been frozen: its lock is gone, and the other one gets the job.
    await rig.connections.prompt.del(`${keys.base}a-0:lock`);
    await expect.poll(() => runs).toHaveLength(2);
    await expect.poll(() => runs[0]?.signal.aborted).toBe(true);
    runs[0]?.finish();
    await sleep(100);
    expect(await mark("a-0")).toBe(`run:${runs[1]?.fence}`);
    expect(runs).toHaveLength(2);
    runs[1]?.finish();
    await expect.poll(() => runs).toHaveLength(3);
    runs[2]?.finish();
    await expect.poll(async () => (await rig.queue.counts()).completed).toBe(2);
    await two.close(0);
  });

  it("fails its last attempt although another one has begun: the job is not dead", async () => {
    await rig.close();
    rig = await openQueueRig({ ...options, attempts: 1 });
    const keys = createKeyspace(rig.prefix).queue("inbound");
    const { runs, dead } = await twoWorkers();
    await rig.add("a", 0);
    await expect.poll(() => runs).toHaveLength(1);
    await rig.connections.prompt.del(`${keys.base}a-0:lock`);
    await expect.poll(() => runs).toHaveLength(2);
    runs[0]?.fail();
    await sleep(100);
    runs[1]?.finish();
    await expect.poll(async () => (await rig.queue.counts()).completed).toBe(1);
    expect(dead).toEqual([]);
  });

  it("fails its last attempt after it was told that the job is lost: the job runs again", async () => {
    await rig.close();
    rig = await openQueueRig({ ...options, attempts: 1 });
    const keys = createKeyspace(rig.prefix).queue("inbound");
    const dead: string[] = [];
    await rig.add("a", 0);
    await rig.consume(
      async ({ signal }) => {
        if (rig.runs.length > 1) return;
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("lost"))));
      },
      { onDead: async ({ id }) => void dead.push(id) },
    );
    await expect.poll(() => rig.runs).toEqual(["a-0"]);
    await rig.connections.prompt.del(`${keys.base}a-0:lock`);
    await expect.poll(async () => (await rig.queue.counts()).completed).toBe(1);
    expect(rig.runs).toEqual(["a-0", "a-0"]);
    expect(dead).toEqual([]);
  });

  it("does not run a job twice at the same time by itself", async () => {
    const keys = createKeyspace(rig.prefix).queue("inbound");
    const runs: (() => void)[] = [];
    await rig.add("a", 0);
    await rig.consume(() => new Promise((resolve) => runs.push(resolve)));
    await expect.poll(() => runs).toHaveLength(1);
    await rig.connections.prompt.del(`${keys.base}a-0:lock`);
    await sleep(1000);
    expect(runs).toHaveLength(1);
    runs[0]?.();
    await expect.poll(async () => (await rig.queue.counts()).completed).toBe(1);
    expect(runs).toHaveLength(1);
  });
});

/** Two workers whose runs end when they are told to. */
async function twoWorkers() {
  const runs: { fence: number; signal: AbortSignal; finish: () => void; fail: () => void }[] = [];
  const dead: string[] = [];
  const start = () =>
    rig.consume(
      ({ fence, signal }) =>
        new Promise((resolve, reject) =>
          runs.push({ fence, signal, finish: resolve, fail: () => reject(new Error("no")) }),
        ),
      { onDead: async ({ id }) => void dead.push(id) },
    );
  await start();
  return { runs, dead, two: await start() };
}

describe("a run that takes longer than a lock lasts", () => {
  it("keeps its job, since it is renewed", async () => {
    await rig.close();
    rig = await openQueueRig({ ...options, lockMs: 1500 });
    const signals: AbortSignal[] = [];
    await rig.add("a", 0);
    await rig.consume(async ({ signal }) => {
      signals.push(signal);
      await sleep(2500);
    });
    await expect.poll(async () => (await rig.queue.counts()).completed, { timeout: 6000 }).toBe(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

describe("a process that is asked to end", () => {
  it("leaves no job locked that it could not finish", async () => {
    await rig.add("a", 0);
    const consumer = await rig.consume(() => new Promise(() => {}));
    await expect.poll(() => rig.runs).toEqual(["a-0"]);
    await consumer.close(0);
    await rig.consume();
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-0"]);
  });
});

function fenceOf(run: unknown): number {
  if (typeof run === "object" && run !== null && "fence" in run && typeof run.fence === "number") return run.fence;
  throw new Error(`no run: ${JSON.stringify(run)}`);
}
