import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createBullOrderedQueue,
  createConnections,
  createKeyspace,
  type EmbeddedRedis,
  startEmbeddedRedis,
} from "../../../src/store/index.js";
import { silentLogger } from "../../fixtures/logger.js";
import { openQueueRig, type QueueRig } from "../../fixtures/queue-rig.js";
import { testPrefix } from "../../fixtures/redis.js";

let dataDir: string;
let server: EmbeddedRedis;
let rig: QueueRig;
let pid: number;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "dale-away-"));
  server = await startEmbeddedRedis({ dataDir, logger: silentLogger });
  rig = await openQueueRig({ socket: server.socket });
  pid = Number(/process_id:(\d+)/.exec(await rig.connections.prompt.info("server"))?.[1]);
});
afterEach(async () => {
  await rig.close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const unavailable = { code: "store_unavailable", retryable: true };

describe("Redis goes away", () => {
  it("frozen: adding fails while it still is; whatever was applied after all is there once", async () => {
    process.kill(pid, "SIGSTOP");
    await expect(rig.queue.add(rig.job("a", 0))).rejects.toMatchObject(unavailable);
    process.kill(pid, "SIGCONT");
    await expect.poll(() => rig.queue.add(rig.job("a", 0)).catch(() => "away")).toMatch(/queued|duplicate/);
    await rig.add("a", 1);
    await rig.consume();
    await expect.poll(() => rig.runs).toEqual(["a-0", "a-1"]);
  });

  it("stopped: adding and reading fail at once, and so does asking whether it is there", async () => {
    await rig.consume();
    await server.stop();
    await expect(rig.queue.add(rig.job("a", 0))).rejects.toMatchObject(unavailable);
    await expect(rig.queue.counts()).rejects.toMatchObject(unavailable);
    await expect(rig.connections.ping()).rejects.toMatchObject(unavailable);
    server = await startEmbeddedRedis({ dataDir, logger: silentLogger });
    await expect.poll(() => rig.queue.add(rig.job("a", 0)).catch(() => "away")).toBe("queued");
    await expect.poll(() => rig.runs, { timeout: 8000 }).toEqual(["a-0"]);
  });

  it("killed in mid-run: the run goes on, and is released when Redis is back", async () => {
    let finish = () => {};
    await rig.add("a", 0, 1);
    await rig.consume(({ data }) =>
      data.n === 0 ? new Promise<void>((resolve) => (finish = resolve)) : Promise.resolve(),
    );
    await expect.poll(() => rig.runs).toEqual(["a-0"]);
    process.kill(pid, "SIGKILL");
    finish();
    await expect.poll(() => rig.runs.at(-1), { timeout: 8000 }).toBe("a-1");
    await expect
      .poll(() => rig.queue.counts().catch(() => undefined))
      .toMatchObject({ waiting: 0, active: 0, failed: 0 });
  });

  it("for longer than a lock lasts: the run is told that it may have lost its job", async () => {
    let signal: AbortSignal | undefined;
    await rig.add("a", 0);
    await rig.consume(async (job) => {
      signal ??= job.signal;
      if (job.signal === signal) await new Promise((_, reject) => job.signal.addEventListener("abort", reject));
    });
    await expect.poll(() => signal !== undefined).toBe(true);
    process.kill(pid, "SIGSTOP");
    await expect.poll(() => signal?.aborted, { timeout: 5000 }).toBe(true);
    process.kill(pid, "SIGCONT");
    await expect.poll(() => rig.runs, { timeout: 8000 }).toEqual(["a-0", "a-0"]);
  });

  it("for good: closing ends all the same", async () => {
    await rig.add("a", 0);
    const consumer = await rig.consume(() => sleep(50));
    await expect.poll(() => rig.runs).toEqual(["a-0"]);
    await server.stop();
    await consumer.close(100);
    await rig.queue.close();
    await rig.connections.close();
  });
});

describe("the watch over Redis", () => {
  it("calls once when it was away for too long, and again only after it was back", async () => {
    const lost: number[] = [];
    const connections = createConnections({
      address: server,
      logger: silentLogger,
      lostAfterMs: 1200,
      commandTimeoutMs: 200,
      onLost: (awayMs) => lost.push(awayMs),
    });
    await connections.ready();
    process.kill(pid, "SIGSTOP");
    await expect.poll(() => lost.length, { timeout: 6000 }).toBe(1);
    expect(lost[0]).toBeGreaterThanOrEqual(1200);
    await sleep(1500);
    process.kill(pid, "SIGCONT");
    await expect
      .poll(
        () =>
          connections.ping().then(
            () => "there",
            () => "away",
          ),
        { timeout: 5000 },
      )
      .toBe("there");
    expect(lost).toHaveLength(1);
    await connections.close();
  });
});

describe("boot", () => {
  const check = async (...config: [string, string]) => {
    await rig.connections.prompt.config("SET", ...config);
    const told: string[] = [];
    const logger = { ...silentLogger, warn: (_: unknown, message: string) => void told.push(message) };
    const connections = createConnections({ address: server, logger });
    try {
      await connections.ready();
      return told;
    } finally {
      await connections.close();
    }
  };

  it("is content with the private server", async () => {
    expect(await check("maxmemory-policy", "noeviction")).toEqual([]);
  });

  it("warns of a policy that would evict, and refuses one that does", async () => {
    expect(await check("maxmemory-policy", "allkeys-lru")).toEqual([expect.stringContaining("noeviction")]);
    await expect(check("maxmemory", "100mb")).rejects.toMatchObject({
      code: "store_unfit",
      message: expect.stringContaining("allkeys-lru"),
    });
  });

  it("warns when nothing is kept on disk", async () => {
    expect(await check("appendonly", "no")).toEqual([expect.stringContaining("append-only")]);
  });

  it("says so in time when nobody answers", async () => {
    const connections = createConnections({ address: { socket: join(dataDir, "none.sock") }, logger: silentLogger });
    await expect(connections.ready(200)).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringMatching(/200 ms/),
    });
    await connections.close();
  });

  it("a queue may be made while Redis is away, and works when it comes", async () => {
    await server.stop();
    const connections = createConnections({ address: server, logger: silentLogger });
    const { queue } = createBullOrderedQueue<unknown>({
      name: "early",
      connections,
      keyspace: createKeyspace(testPrefix()),
      parse: (data) => data,
      logger: silentLogger,
    });
    await expect(queue.add({ id: "a-0", key: "a", data: 0 })).rejects.toMatchObject(unavailable);
    server = await startEmbeddedRedis({ dataDir, logger: silentLogger });
    await expect.poll(() => queue.add({ id: "a-0", key: "a", data: 0 }).catch(() => "away")).toBe("queued");
    await queue.close();
    await connections.close();
  });
});
