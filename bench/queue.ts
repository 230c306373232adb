import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "bullmq";
import { createBullOrderedQueue, createConnections, createKeyspace, startEmbeddedRedis } from "../src/store/index.js";
import { startChild } from "../test/fixtures/child-process.js";
import { silentLogger } from "../test/fixtures/logger.js";

/**
 * The ordered queue beside BullMQ without order, in the same run: two worker processes of 50 runs each, runs that do
 * nothing, a private redis-server with its append-only file.
 */
const sessions = 1000;
const messages = 10;
const inFlight = 100;
const lowLoad = { perSecond: 100, seconds: 5 };
const text = "x".repeat(300);

interface Figures {
  readonly ingress: number;
  readonly drain: number;
  readonly p50: number;
  readonly p99: number;
}

const dataDir = await mkdtemp(join(tmpdir(), "dale-bench-"));
const server = await startEmbeddedRedis({ dataDir, logger: silentLogger });
const connections = createConnections({ address: server, logger: silentLogger, commandTimeoutMs: 30_000 });
await connections.ready();
let shard = 0;

async function measure(raw: boolean): Promise<Figures> {
  const prefix = `{bench:${shard++}}`;
  const name = "inbound";
  const ordered = createBullOrderedQueue<unknown>({
    name,
    connections,
    keyspace: createKeyspace(prefix),
    parse: (data) => data,
    logger: silentLogger,
  });
  const plain = new Queue(name, { connection: connections.prompt, prefix });
  const add = async (session: number, n: number) => {
    const id = `m-${session}-${n}`;
    const data = { at: performance.timeOrigin + performance.now(), text };
    if (raw) await plain.add(`s${session}`, data, { jobId: id });
    else await ordered.queue.add({ id, key: `s${session}`, data });
  };

  const ingressMs = await timed(async () => {
    let next = 0;
    const producer = async () => {
      for (let at = next++; at < sessions * messages; at = next++) await add(at % sessions, Math.floor(at / sessions));
    };
    await Promise.all(Array.from({ length: inFlight }, producer));
  });

  await plain.pause();
  workers.push(...(await startWorkers(prefix, name, raw)));
  const drainMs = await timed(async () => {
    await plain.resume();
    for (;;) {
      const { waiting, active } = await ordered.queue.counts();
      if (waiting + active === 0) return;
      await sleep(10);
    }
  });

  await waitsOf();
  for (let n = 0; n < lowLoad.perSecond * lowLoad.seconds; n++) {
    void add(100_000 + (n % 20), n);
    await sleep(1000 / lowLoad.perSecond);
  }
  await sleep(300);
  const waits = (await waitsOf()).sort((a, b) => a - b);
  for (const worker of workers.splice(0)) {
    worker.kill("SIGKILL");
    await worker.exited;
  }
  const count = sessions * messages * 1000;
  return { ingress: count / ingressMs, drain: count / drainMs, p50: at(waits, 0.5), p99: at(waits, 0.99) };
}

const workers: Awaited<ReturnType<typeof startChild>>[] = [];

async function startWorkers(prefix: string, name: string, raw: boolean) {
  const args = { socket: server.socket, prefix, name, raw };
  const started = await Promise.all([startChild("bench-worker.ts", args), startChild("bench-worker.ts", args)]);
  await Promise.all(started.map((worker) => worker.message()));
  return started;
}

async function waitsOf(): Promise<number[]> {
  const all = await Promise.all(
    workers.map((worker) => {
      worker.process.send("waits");
      return worker.message();
    }),
  );
  return all.flat().map(Number);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

const raw = await measure(true);
const ordered = await measure(false);
const row = (what: string, figures: Figures) => ({
  queue: what,
  "added/s": Math.round(figures.ingress),
  "run/s": Math.round(figures.drain),
  "wait p50 ms": Number(figures.p50.toFixed(1)),
  "wait p99 ms": Number(figures.p99.toFixed(1)),
});
console.table([row("BullMQ, no order", raw), row("ordered per session", ordered)]);
console.log(
  `ordered / unordered: adding ${(ordered.ingress / raw.ingress).toFixed(2)}, running ${(ordered.drain / raw.drain).toFixed(2)}`,
);

await connections.close();
await server.stop();
await rm(dataDir, { recursive: true, force: true });
