/**
 * Where Dale keeps things: Redis (its connections, its key names, an embedded server) and the other rooms' ports on it,
 * each change one atomic script. It decides nothing: rules come from the rooms whose ports these are.
 */
export { type Connections, type ConnectionsOptions, createConnections, type RedisAddress } from "./connection.js";
export { createDeliveryStore } from "./delivery-store.js";
export { type EmbeddedRedis, type EmbeddedRedisOptions, startEmbeddedRedis } from "./embedded-redis.js";
export { createEvidenceJournal } from "./evidence-journal.js";
export { holdEvidenceFolder, leaseEvidence } from "./evidence-ownership.js";
export { createKeyspace, type Keyspace, shardPrefix } from "./keyspace.js";
export type { StoreLogger } from "./logger.js";
export { createMemoryChannelStore, type MemoryChannelStore } from "./memory-channel-store.js";
export { createMemorySlotStore, type MemorySlotStore } from "./memory-slot-store.js";
export { type BullOrderedQueue, createBullOrderedQueue } from "./ordered-queue.js";
export type { Keep, OrderedQueueOptions } from "./ordered-settings.js";
export { createPolicyCounts, type PolicyCounts } from "./policy-counts.js";
export { createApprovalStore } from "./redis-approval-store.js";
export { createRedisChannelStore, type RedisChannelStoreOptions } from "./redis-channel-store.js";
export { createRedisLedgerStore } from "./redis-ledger-store.js";
export { createRedisSlotStore, createUnsettledStore, type RedisSlotStoreOptions } from "./redis-slot-store.js";
export { reviewerText, storedArguments } from "./reviewer-text.js";
export { createRunSecrets, type RunSecrets, type RunSecretsOptions } from "./run-secrets.js";
export type { Shard } from "./script.js";
export { createSendLimiter, type SendLimits } from "./send-limiter.js";
export { type Bus, createBus, createSignals, type Signals, type SignalsOptions } from "./signals.js";
export { createStatusBoard, type StatusBoard } from "./status-board.js";
export { createConversationMemory, createTurnStore } from "./turn-store.js";
