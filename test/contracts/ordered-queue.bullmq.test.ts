import { inject } from "vitest";
import { createBullOrderedQueue, createConnections, createKeyspace } from "../../src/store/index.js";
import { silentLogger } from "../fixtures/logger.js";
import { testPrefix } from "../fixtures/redis.js";
import { type Item, orderedQueueContract } from "./ordered-queue.js";

const rememberedMs = 400;

orderedQueueContract("BullMQ", async () => {
  const connections = createConnections({ address: { socket: inject("redisSocket") }, logger: silentLogger });
  await connections.ready();
  const keyspace = createKeyspace(testPrefix());
  return {
    rememberedMs,
    open: (name) =>
      createBullOrderedQueue<Item>({
        name,
        connections,
        keyspace,
        parse: parseItem,
        logger: silentLogger,
        attempts: 2,
        backoff: () => 10,
        dedupeTtlMs: rememberedMs,
        keepCompleted: { ageMs: rememberedMs, count: 1000 },
        keepDead: { ageMs: rememberedMs, count: 1000 },
      }).queue,
    close: () => connections.close(),
  };
});

function parseItem(data: unknown): Item {
  if (typeof data === "object" && data !== null && "n" in data && typeof data.n === "number") return { n: data.n };
  throw new Error("not an item");
}
