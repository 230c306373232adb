import { Queue } from "bullmq";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createKeyspace } from "../../../src/store/index.js";
import { openQueueRig, type QueueRig } from "../../fixtures/queue-rig.js";

/** The scripts write BullMQ's own layout; here it is held against what BullMQ itself writes. */
let rig: QueueRig;
let reference: Queue;
beforeEach(async () => {
  rig = await openQueueRig();
  reference = new Queue("reference", { connection: rig.connections.prompt, prefix: rig.prefix });
  await reference.waitUntilReady();
});
afterEach(() => rig.close());

/** All of a queue's keys: type and contents, the queue's name and times taken out. */
async function picture(name: string): Promise<Record<string, unknown>> {
  const redis = rig.connections.prompt;
  const { base } = createKeyspace(rig.prefix).queue(name);
  const seen: Record<string, unknown> = {};
  for (const key of (await redis.keys(`${base}*`)).sort()) {
    const short = key.slice(base.length);
    const type = await redis.type(key);
    if (type === "hash") {
      const { timestamp, opts, ...hash } = await redis.hgetall(key);
      // BullMQ writes the id into the options as well, and reads it nowhere.
      const { jobId: _, ...options } = JSON.parse(opts ?? "{}");
      seen[short] = { ...hash, ...(opts && { options, timestamp: timestamp?.length }) };
    } else if (type === "list") seen[short] = await redis.lrange(key, 0, -1);
    else if (type === "zset") seen[short] = await redis.zrange(key, "0", "-1");
    else if (type === "stream") {
      const events = await redis.xrange(key, "-", "+");
      seen[short] = events.map(([, fields]) =>
        fields.map((field, at) => (fields[at - 1] === "delay" ? "a time" : field)),
      );
    }
  }
  return seen;
}

const options = { attempts: 2, backoff: { type: "ordered" } };

it("writes a job at the head of its line as BullMQ writes one that waits", async () => {
  await rig.queue.add(rig.job("a", 0));
  await reference.add("a", { n: 0 }, { ...options, jobId: "a-0" });
  const { id, events, ...theirs } = await picture("reference");
  const { events: ourEvents, ...ours } = await picture("inbound");
  expect(id).toBeUndefined();
  expect(ours).toEqual(theirs);
  expect(ourEvents).toEqual(events);
});

it("wakes no worker of a paused queue, as BullMQ does", async () => {
  await rig.bull.pause();
  await reference.pause();
  await rig.queue.add(rig.job("a", 0));
  await reference.add("a", { n: 0 }, { ...options, jobId: "a-0" });
  const { id: _, ...theirs } = await picture("reference");
  expect(await picture("inbound")).toEqual(theirs);
});

it("parks a job as BullMQ delays one, and wakes it as BullMQ promotes one", async () => {
  const parkedMs = 3_600_000;
  await rig.queue.add(rig.job("a", 0));
  await rig.queue.add(rig.job("a", 1));
  await reference.add("a", { n: 0 }, { ...options, jobId: "a-0" });
  const delayed = await reference.add("a", { n: 1 }, { ...options, jobId: "a-1", delay: parkedMs });
  const strip = async (name: string) => {
    const { marker: _, events, ...rest } = await picture(name);
    const parked = rest["a-1"];
    if (typeof parked !== "object" || parked === null || !("options" in parked)) throw new Error("no parked job");
    const { delay: __, ...settings } = Object(parked.options);
    return { ...rest, events, "a-1": { ...parked, options: settings } };
  };
  expect(await strip("inbound")).toEqual(await strip("reference"));

  const score = async (name: string) =>
    Number(await rig.connections.prompt.zscore(`${createKeyspace(rig.prefix).queue(name).base}delayed`, "a-1")) / 4096;
  expect(Math.abs((await score("inbound")) - (await score("reference")))).toBeLessThan(60_000);

  await (await rig.bull.getJob("a-0"))?.remove();
  await (await reference.getJob("a-0"))?.remove();
  await delayed.promote();
  await rig.queue.add(rig.job("a", 0));
  expect(await rig.bull.getJobCounts("wait", "delayed")).toEqual(await reference.getJobCounts("wait", "delayed"));
  expect((await rig.bull.getJob("a-1"))?.delay).toBe(0);
});

it("names all keys of a queue under one hash tag", async () => {
  await rig.add("telegram:bot:{1}:2", 0, 1);
  await rig.consume();
  await expect.poll(async () => (await rig.queue.counts()).completed).toBe(2);
  const keys = await rig.connections.prompt.keys("*{1}*");
  expect(keys.filter((key) => key.startsWith(rig.prefix)).length).toBe(
    keys.filter((key) => key.includes(rig.prefix)).length,
  );
});
