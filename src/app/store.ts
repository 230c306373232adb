import { randomUUID } from "node:crypto";
import type { DaleError } from "../errors/index.js";
import type { EvidenceJournal } from "../evidence/index.js";
import type { SlotStore } from "../gate/index.js";
import type { ApprovalStore, LedgerStore } from "../ledger/index.js";
import type { DeliveryStore } from "../outbound/index.js";
import {
  type Bus,
  type Connections,
  createApprovalStore,
  createBus,
  createConnections,
  createConversationMemory,
  createDeliveryStore,
  createEvidenceJournal,
  createKeyspace,
  createPolicyCounts,
  createRedisLedgerStore,
  createRedisSlotStore,
  createRunSecrets,
  createSignals,
  createStatusBoard,
  createTurnStore,
  createUnsettledStore,
  type Keyspace,
  type PolicyCounts,
  type RunSecrets,
  type Shard,
  type Signals,
  type StatusBoard,
  shardPrefix,
  startEmbeddedRedis,
} from "../store/index.js";
import type { ConversationMemory, TurnSignals, TurnStore, UnsettledStore } from "../turns/index.js";
import type { DaleConfig } from "./config/index.js";
import { sealingKey } from "./installation-key.js";
import type { Logger } from "./logger.js";

export interface Store {
  readonly connections: Connections;
  readonly keyspace: Keyspace;
  readonly shard: Shard;
  readonly signals: Signals;
  readonly bus: Bus;
  readonly slots: SlotStore;
  readonly deliveries: DeliveryStore;
  readonly turns: TurnStore;
  readonly turnSignals: TurnSignals;
  readonly memory: ConversationMemory;
  readonly unsettled: UnsettledStore;
  readonly journal: EvidenceJournal;
  readonly secrets: RunSecrets;
  readonly status: StatusBoard;
  readonly ledger: LedgerStore;
  readonly policyCounts: PolicyCounts;
  readonly approvals: ApprovalStore;
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  readonly config: DaleConfig;
  readonly logger: Logger;
  readonly onFatal: (error: DaleError) => void;
  readonly now: () => number;
}

/** Redis, ours or the configured one, and every port that lives in it. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { config, logger, now } = options;
  const embedded = config.redis
    ? undefined
    : await startEmbeddedRedis({ dataDir: config.dataDir, logger, onLost: options.onFatal });
  const address = config.redis ?? { socket: embedded?.socket ?? "" };
  const connections = createConnections({ address, logger });
  try {
    await connections.ready();
    const prefix = shardPrefix();
    const shard: Shard = { redis: connections.prompt, prefix };
    const signals = createSignals({ ...shard, subscriber: connections.subscriber("signals") });
    const bus = createBus(signals);
    return {
      connections,
      keyspace: createKeyspace(prefix),
      shard,
      signals,
      bus,
      slots: createRedisSlotStore(shard),
      deliveries: createDeliveryStore(shard),
      turns: await createTurnStore(shard),
      turnSignals: {
        announce: (turn) => bus.publish(`turn:${turn}`, true),
        listen: (turn, onAnnounced) => bus.subscribe(`turn:${turn}`, onAnnounced),
      },
      memory: createConversationMemory(shard),
      unsettled: createUnsettledStore(shard),
      journal: createEvidenceJournal(shard),
      secrets: createRunSecrets({ ...shard, key: await sealingKey(config.http.token, config.dataDir) }),
      ledger: createRedisLedgerStore(shard),
      policyCounts: createPolicyCounts(shard),
      approvals: createApprovalStore(shard),
      status: createStatusBoard({ ...shard, process: randomUUID(), now }),
      async close() {
        signals.close();
        await connections.close();
        await embedded?.stop();
      },
    };
  } catch (error) {
    await connections.close();
    await embedded?.stop();
    throw error;
  }
}
