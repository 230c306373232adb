import type { ChannelAdapter } from "../channels/index.js";
import { DaleError } from "../errors/index.js";
import type { DeliveryStore, NoticeWatch, OutboundPart } from "../outbound/index.js";
import { createNoticeWatch, parseOutboundPart } from "../outbound/index.js";
import { type BullOrderedQueue, createBullOrderedQueue } from "../store/index.js";
import { parseTurnRequest, type TurnRequest } from "../turns/index.js";
import { type Account, createAccount } from "./accounts.js";
import { type Agents, createAgents } from "./agents.js";
import { type ApprovalRoom, createApprovalRoom } from "./approvals.js";
import type { Loaded } from "./boot.js";
import { createCallGuard, warnOfBlindRules } from "./call-guard.js";
import { type ChannelRules, createChannelRules } from "./channel-rules.js";
import { createCloudSiblings } from "./cloud-siblings.js";
import type { DaleConfig, Role } from "./config/index.js";
import { type EvidenceDesk, openEvidence } from "./evidence.js";
import type { Logger } from "./logger.js";
import { createMetrics, type Metrics } from "./metrics.js";
import { type PropuestasPost, parsePropuestasPost } from "./propuestas-post.js";
import { openStore, type Store } from "./store.js";
import { watchedDeliveries } from "./watched.js";

export interface CoreOptions {
  readonly config: DaleConfig;
  readonly loaded: Loaded;
  readonly roles: readonly Role[];
  readonly logger: Logger;
  /** Something that this process cannot live without is gone for good: it should end, and be started again. */
  readonly onFatal: (error: DaleError) => void;
}

/** One account with the line of messages that wait to be sent on it. */
export interface AccountLine {
  readonly account: Account;
  readonly outbound: BullOrderedQueue<OutboundPart>;
}

/** What every role of a process works with. Opened first and closed last; nothing in it receives or sends by itself. */
export interface Core extends CoreOptions {
  readonly store: Store;
  readonly evidence: EvidenceDesk;
  readonly metrics: Metrics;
  readonly inbound: BullOrderedQueue<TurnRequest>;
  readonly propuestas: BullOrderedQueue<PropuestasPost>;
  readonly lines: ReadonlyMap<string, AccountLine>;
  readonly rules: ChannelRules;
  readonly deliveries: DeliveryStore;
  readonly watch: NoticeWatch;
  readonly agents: Agents;
  readonly approvals: ApprovalRoom;
  readonly queues: readonly BullOrderedQueue<never>[];
  has(role: Role): boolean;
  adapterOf(channel: string, account: string): ChannelAdapter | undefined;
  /** Durable, idempotent by the part's id. */
  enqueue(part: OutboundPart): Promise<void>;
  now(): number;
  /** What to do when the process stops; the last one said is done first. */
  onStop(close: () => Promise<void> | void): void;
}

export async function openCore(options: CoreOptions, onStop: Core["onStop"]): Promise<Core> {
  const { config, loaded, logger, onFatal } = options;
  const now = Date.now;
  const has = (role: Role) => options.roles.includes(role);
  const store = await openStore({ config, logger, onFatal, now });
  onStop(() => store.close());
  const evidence = await openEvidence({ ...store, config, moves: has("worker"), logger, now });
  onStop(() => evidence.close());

  const queues: BullOrderedQueue<never>[] = [];
  const queue = <T>(name: string, parse: (data: unknown) => T): BullOrderedQueue<T> => {
    const { connections, keyspace } = store;
    const made = createBullOrderedQueue<T>({ name, parse, connections, keyspace, logger });
    queues.push(made as BullOrderedQueue<never>);
    onStop(() => made.queue.close());
    return made;
  };
  const metrics = createMetrics(() => queues.map(({ queue: each }) => each), evidence.backlog);
  const inbound = queue("inbound", parseTurnRequest);
  const propuestas = queue("propuestas", parsePropuestasPost);

  const lines = new Map<string, AccountLine>();
  const adapterOf = (channel: string, account: string) => lines.get(`${channel}:${account}`)?.account.adapter;
  const rules = createChannelRules(config.gate, adapterOf);
  const deliveries = watchedDeliveries(store.deliveries, metrics);
  const { slots, shard, signals } = store;
  const watch = createNoticeWatch({ deliveries, slots, levelOf: rules.levelOf, logger, now });
  const shared = { shard, signals, inbound: inbound.queue, watch, deliveries, slots, metrics, logger, now };
  const siblings = createCloudSiblings();
  for (const settings of config.channels) {
    const account = await createAccount(settings, { ...shared, siblings });
    const outbound = queue(`outbound.${settings.channel}.${settings.name}`, parseOutboundPart);
    lines.set(`${settings.channel}:${settings.name}`, { account, outbound });
  }

  const { policies } = loaded;
  const guard =
    policies &&
    createCallGuard({
      policies,
      store: store.ledger,
      counts: store.policyCounts,
      approvals: store.approvals,
      metrics,
      logger,
      now,
    });
  if (policies) await warnOfBlindRules(policies, store.policyCounts, logger);
  const approvals = createApprovalRoom({
    store: store.approvals,
    inbound: inbound.queue,
    count: (outcome) => metrics.approvals.inc({ outcome }),
    logger,
    now,
  });
  const agents = createAgents({ config, loaded, env: process.env, logger, now, guard });
  onStop(() => agents.close());

  return {
    ...options,
    store,
    evidence,
    metrics,
    inbound,
    propuestas,
    lines,
    rules,
    deliveries,
    watch,
    agents,
    approvals,
    queues,
    has,
    adapterOf,
    async enqueue(part) {
      const line = lines.get(`${part.address.channel}:${part.address.account}`);
      if (!line) throw new DaleError("channel_failed", "The account of an answer is not configured any more.");
      await deliveries.apply(part.id, { type: "queued", part, at: now() });
      await line.outbound.queue.add({ id: part.id, key: part.session, data: part });
    },
    now,
    onStop,
  };
}
