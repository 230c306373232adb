/**
 * Where Dale keeps things: Redis (its connections, its key names, an embedded server) and the other rooms' ports on it,
 * each change one atomic script. It decides nothing: rules come from the rooms whose ports these are.
 */
export { type Connections, type ConnectionsOptions, createConnections, type RedisAddress } from "./connection.js";
export { type EmbeddedRedis, type EmbeddedRedisOptions, startEmbeddedRedis } from "./embedded-redis.js";
export { createKeyspace, type Keyspace, shardPrefix } from "./keyspace.js";
export type { StoreLogger } from "./logger.js";
export { createMemoryChannelStore, type MemoryChannelStore } from "./memory-channel-store.js";
export {
  type BullOrderedQueue,
  createBullOrderedQueue,
  type Keep,
  type OrderedQueueOptions,
} from "./ordered-queue.js";
