import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { JsonValue } from "../../../src/canonical/index.js";
import { type Bus, createBus, createSignals, type Signals } from "../../../src/store/index.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";

describe("the bus between processes", () => {
  const opened: Redis[] = [];
  let prefix: string;

  function openProcess(): { bus: Bus; signals: Signals; redis: Redis; subscriber: Redis } {
    const [redis, subscriber] = [testRedis(), testRedis()];
    opened.push(redis, subscriber);
    const signals = createSignals({ redis, subscriber, prefix });
    return { bus: createBus(signals), signals, redis, subscriber };
  }

  beforeEach(() => {
    prefix = testPrefix();
  });
  afterEach(() => {
    for (const redis of opened.splice(0)) redis.disconnect();
  });

  it("carries values to every listener of the topic, in order", async () => {
    const [here, there] = [openProcess(), openProcess()];
    const heard: JsonValue[][] = [[], []];
    await here.bus.subscribe("turn:t-1", (value) => heard[0]?.push(value));
    await there.bus.subscribe("turn:t-1", (value) => heard[1]?.push(value));
    await there.bus.subscribe("turn:t-2", () => expect.unreachable());
    const values = [null, 1, "dos", { done: true }, ["á\n"]];
    for (const value of values) await here.bus.publish("turn:t-1", value);
    for (const each of heard) await vi.waitFor(() => expect(each).toEqual(values));
  });

  it("stops when told, without stopping others of the same topic", async () => {
    const { bus } = openProcess();
    const [gone, stays]: [JsonValue[], JsonValue[]] = [[], []];
    const stop = await bus.subscribe("typing", (value) => gone.push(value));
    await bus.subscribe("typing", (value) => stays.push(value));
    stop();
    stop();
    await bus.publish("typing", 1);
    await vi.waitFor(() => expect(stays).toEqual([1]));
    expect(gone).toEqual([]);
  });

  it("listens again after everybody had left the topic", async () => {
    const { bus } = openProcess();
    const heard: JsonValue[] = [];
    for (let round = 0; round < 5; round++) {
      const stop = await bus.subscribe("typing", (value) => heard.push(value));
      await bus.publish("typing", round);
      await vi.waitFor(() => expect(heard).toHaveLength(round + 1));
      stop();
    }
    expect(heard).toEqual([0, 1, 2, 3, 4]);
  });

  it("tells of no gap when it connects for the first time", async () => {
    const { signals, subscriber } = openProcess();
    let gaps = 0;
    await signals.subscribe(
      "topic",
      () => {},
      () => gaps++,
    );
    await subscriber.ping();
    expect(gaps).toBe(0);
  });

  it("goes on after its connection was lost, and says that something may have been missed", async () => {
    const { signals, subscriber } = openProcess();
    const heard: string[] = [];
    let gaps = 0;
    await signals.subscribe(
      "topic",
      (value) => heard.push(value),
      () => gaps++,
    );
    subscriber.disconnect(true);
    await vi.waitFor(() => expect(gaps).toBe(1));
    await signals.publish("topic", "back");
    await vi.waitFor(() => expect(heard).toEqual(["back"]));
  });

  it("loses what it cannot say, and fails nobody for it", async () => {
    const { bus, signals, redis } = openProcess();
    redis.disconnect();
    await bus.publish("typing", 1);
    await expect(signals.publish("typing", "1")).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("hears nothing after it was closed", async () => {
    const [closing, other] = [openProcess(), openProcess()];
    const heard: JsonValue[] = [];
    await closing.bus.subscribe("typing", () => expect.unreachable());
    await other.bus.subscribe("typing", (value) => heard.push(value));
    closing.signals.close();
    await other.bus.publish("typing", 1);
    await vi.waitFor(() => expect(heard).toEqual([1]));
  });
});
