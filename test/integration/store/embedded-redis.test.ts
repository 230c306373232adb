import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type EmbeddedRedis, startEmbeddedRedis } from "../../../src/store/index.js";
import { startChild } from "../../fixtures/child-process.js";
import { silentLogger } from "../../fixtures/logger.js";

let folder: string;
let dataDir: string;
const running: EmbeddedRedis[] = [];
const clients: Redis[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "dale-embedded-"));
  dataDir = join(folder, "data");
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await Promise.all(running.splice(0).map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function start(dir = dataDir): Promise<EmbeddedRedis> {
  const server = await startEmbeddedRedis({ dataDir: dir, logger: silentLogger });
  running.push(server);
  return server;
}

async function stop(server: EmbeddedRedis): Promise<void> {
  running.splice(running.indexOf(server), 1);
  await server.stop();
}

function client(socket: string): Redis {
  const redis = new Redis({ path: socket, maxRetriesPerRequest: null, retryStrategy: () => 20 });
  redis.on("error", () => {});
  clients.push(redis);
  return redis;
}

async function pidOf(socket: string): Promise<number> {
  return Number(/process_id:(\d+)/.exec(await client(socket).info("server"))?.[1]);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("the private redis-server", () => {
  it("serves a unix socket alone, keeps everything in its file, and evicts nothing", async () => {
    const { socket } = await start();
    const redis = client(socket);
    expect(await redis.config("GET", "port")).toEqual(["port", "0"]);
    expect(await redis.config("GET", "appendonly")).toEqual(["appendonly", "yes"]);
    expect(await redis.config("GET", "maxmemory-policy")).toEqual(["maxmemory-policy", "noeviction"]);
    expect(await readdir(join(dataDir, "redis"))).toContain("appendonlydir");
  });

  it("gives back what it kept when it is started again", async () => {
    const first = await start();
    await client(first.socket).set("kept", "yes");
    await stop(first);
    const second = await start();
    expect(await client(second.socket).get("kept")).toBe("yes");
  });

  it("has ended when stop returns", async () => {
    const server = await start();
    const pid = await pidOf(server.socket);
    await stop(server);
    expect(isAlive(pid)).toBe(false);
  });

  it("is started again when it was killed, with all that it had accepted", async () => {
    const { socket } = await start();
    const redis = client(socket);
    const pid = await pidOf(socket);
    await redis.set("before", "1");
    process.kill(pid, "SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await redis.get("before")).toBe("1");
    expect(await pidOf(socket)).not.toBe(pid);
  });

  it("ends with its owner when that is killed, and the next owner finds everything", async () => {
    const owner = await startChild("embedded-owner.ts", { dataDir });
    const told = await owner.message();
    const socket = socketOf(told);
    const pid = await pidOf(socket);
    await client(socket).set("kept", "yes");
    owner.kill("SIGKILL");
    await owner.exited;
    const next = await start();
    expect(isAlive(pid)).toBe(false);
    expect(await client(next.socket).get("kept")).toBe("yes");
  });

  it("ends with its owner although nobody comes after it", async () => {
    const owner = await startChild("embedded-owner.ts", { dataDir });
    const pid = await pidOf(socketOf(await owner.message()));
    owner.kill("SIGKILL");
    await expect.poll(() => isAlive(pid), { timeout: 5000 }).toBe(false);
  });

  it("is still there after a Ctrl-C, which reaches the whole process group, until its owner stops it", async () => {
    const owner = await startChild("embedded-owner.ts", { dataDir });
    const socket = socketOf(await owner.message());
    const pid = await pidOf(socket);
    process.kill(-(owner.process.pid ?? 0), "SIGINT");
    expect(await owner.message()).toBe("interrupted");
    expect(await client(socket).set("drained", "yes")).toBe("OK");
    owner.kill("SIGTERM");
    expect(await owner.exited).toMatchObject({ code: 0 });
    expect(isAlive(pid)).toBe(false);
  });

  it("belongs to one process: a second one is told so", async () => {
    await start();
    await expect(start()).rejects.toMatchObject({ code: "store_unfit", message: expect.stringContaining("in use") });
    const other = await startChild("embedded-owner.ts", { dataDir });
    expect(await other.message()).toEqual({ code: "store_unfit" });
    await other.exited;
  });

  it("goes to one of several processes that start at the same moment, also after a crash", async () => {
    const crashed = await startChild("embedded-owner.ts", { dataDir });
    await crashed.message();
    crashed.kill("SIGKILL");
    await crashed.exited;
    const children = await Promise.all([1, 2, 3, 4].map(() => startChild("embedded-owner.ts", { dataDir })));
    const told = await Promise.all(children.map((child) => child.message()));
    expect(told.filter((each) => typeof each === "object" && each !== null && "socket" in each)).toHaveLength(1);
    for (const child of children) child.kill("SIGTERM");
    await Promise.all(children.map((child) => child.exited));
  });

  it("serves a data folder whose path is too long for a socket", async () => {
    const deep = join(folder, "d".repeat(60), "e".repeat(60));
    await mkdir(deep, { recursive: true });
    const { socket } = await start(deep);
    expect(await client(socket).ping()).toBe("PONG");
    expect(Buffer.byteLength(socket)).toBeLessThan(104);
    await expect(start(deep)).rejects.toMatchObject({ code: "store_unfit" });
    await rm(dirname(socket), { recursive: true });
  });

  it("says so when the data folder cannot be made", async () => {
    await writeFile(join(folder, "file"), "");
    await expect(start(join(folder, "file"))).rejects.toMatchObject({
      code: "store_unfit",
      message: expect.stringContaining("cannot be made"),
    });
  });

  it("says what to do when redis-server is not installed", async () => {
    const missing = startEmbeddedRedis({ dataDir, logger: silentLogger, program: "redis-server-that-is-not-there" });
    await expect(missing).rejects.toMatchObject({
      code: "store_unfit",
      message: expect.stringContaining("redis-server is not installed"),
    });
    await start();
  });
});

function socketOf(told: unknown): string {
  if (typeof told === "object" && told !== null && "socket" in told && typeof told.socket === "string")
    return told.socket;
  throw new Error(`no socket: ${JSON.stringify(told)}`);
}
