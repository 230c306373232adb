import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { ChannelAdapter } from "../channels/index.js";
import { DaleError } from "../errors/index.js";
import { createHttpApp, type HttpServer, listen } from "../http/index.js";
import { isOff } from "../ledger/index.js";
import {
  createNoticeWatch,
  createResponseDelivery,
  createSender,
  type OutboundPart,
  parseOutboundPart,
} from "../outbound/index.js";
import type { QueueConsumer } from "../queue/index.js";
import { type BullOrderedQueue, createBullOrderedQueue, createSendLimiter } from "../store/index.js";
import { createGateDesk, createRunDesk, createTurnWorker, parseTurnRequest } from "../turns/index.js";
import { type Account, createAccount } from "./accounts.js";
import { createAgents } from "./agents.js";
import { createApprovalRoom, createTurnApprovals } from "./approvals.js";
import type { Loaded } from "./boot.js";
import { createCallGuard } from "./call-guard.js";
import { createChannelRules } from "./channel-rules.js";
import { createCloudSiblings } from "./cloud-siblings.js";
import type { DaleConfig, Role } from "./config/index.js";
import { openEvidence } from "./evidence.js";
import type { Logger } from "./logger.js";
import { createMetrics } from "./metrics.js";
import { createPairingDesk, followPairing } from "./pairing.js";
import { createMediaPerception } from "./perception.js";
import { createPresence, followPresence } from "./presence.js";
import { type PropuestasPost, parsePropuestasPost, postPropuestas } from "./propuestas-post.js";
import { startSchedule } from "./schedule.js";
import { openStore } from "./store.js";
import { watchedDeliveries, watchedTurns } from "./watched.js";

export interface DaleOptions {
  readonly config: DaleConfig;
  readonly loaded: Loaded;
  readonly roles: readonly Role[];
  readonly logger: Logger;
  /** Something that this process cannot live without is gone for good: it should end, and be started again. */
  readonly onFatal: (error: DaleError) => void;
}

export interface Dale {
  /** @returns lines for the person at the terminal: where to go */
  start(): Promise<{ readonly lines: readonly string[]; readonly port?: number }>;
  /** Stops receiving, finishes what runs, sends what is under way, then closes. */
  stop(): Promise<void>;
}

/** Longest wait for turns and requests that run when we stop, ms. */
const graceMs = 60_000;
const statusEveryMs = 10_000;

const overrides = z.record(z.string(), z.record(z.string(), z.string()));

/** Wires one process of Dale. What is started is put on a list, and taken down in the opposite order. */
export function createDale(options: DaleOptions): Dale {
  const { config, loaded, logger, onFatal } = options;
  const now = Date.now;
  const has = (role: Role) => options.roles.includes(role);
  const closers: (() => Promise<void> | void)[] = [];

  async function start(): ReturnType<Dale["start"]> {
    const store = await openStore({ config, logger, onFatal, now });
    closers.push(() => store.close());
    const evidence = await openEvidence({ ...store, config, moves: has("worker"), logger, now });
    closers.push(() => evidence.close());
    const queues: BullOrderedQueue<never>[] = [];
    const queue = <T>(name: string, parse: (data: unknown) => T): BullOrderedQueue<T> => {
      const made = createBullOrderedQueue<T>({
        name,
        parse,
        connections: store.connections,
        keyspace: store.keyspace,
        logger,
      });
      queues.push(made as BullOrderedQueue<never>);
      closers.push(() => made.queue.close());
      return made;
    };
    const metrics = createMetrics(() => queues.map(({ queue: each }) => each), evidence.backlog);
    const inbound = queue("inbound", parseTurnRequest);
    const propuestas = queue("propuestas", parsePropuestasPost);
    const adapterOf = (channel: string, account: string): ChannelAdapter | undefined =>
      accounts.get(`${channel}:${account}`)?.adapter;
    const rules = createChannelRules(config.gate, adapterOf);
    const deliveries = watchedDeliveries(store.deliveries, metrics);
    const { slots } = store;
    const watch = createNoticeWatch({ deliveries, slots, levelOf: rules.levelOf, logger, now });
    const accounts = new Map<string, Account>();
    const siblings = createCloudSiblings();
    const outbound = new Map<string, BullOrderedQueue<OutboundPart>>();
    for (const settings of config.channels) {
      const key = `${settings.channel}:${settings.name}`;
      const { shard, signals } = store;
      accounts.set(
        key,
        await createAccount(settings, {
          shard,
          signals,
          inbound: inbound.queue,
          watch,
          deliveries,
          slots,
          siblings,
          metrics,
          logger,
          now,
        }),
      );
      outbound.set(key, queue(`outbound.${settings.channel}.${settings.name}`, parseOutboundPart));
    }
    const enqueue = async (part: OutboundPart): Promise<void> => {
      const line = outbound.get(`${part.address.channel}:${part.address.account}`);
      if (!line) throw new DaleError("channel_failed", "The account of an answer is not configured any more.");
      await deliveries.apply(part.id, { type: "queued", part, at: now() });
      await line.queue.add({ id: part.id, key: part.session, data: part });
    };

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
    const approvals = createApprovalRoom({
      store: store.approvals,
      inbound: inbound.queue,
      count: (outcome) => metrics.approvals.inc({ outcome }),
      logger,
      now,
    });
    const agents = createAgents({ config, loaded, env: process.env, logger, now, guard });
    closers.push(() => agents.close());
    if (has("worker")) await startWorker();
    for (const account of accounts.values()) await startAccount(account);
    const server = has("http") ? await startHttp() : undefined;
    return { lines: server ? addresses(server) : [], ...(server ? { port: server.port } : {}) };

    async function startWorker(): Promise<void> {
      const worker = createTurnWorker({
        turns: watchedTurns(store.turns, metrics),
        memory: store.memory,
        desk: createGateDesk({
          slots,
          ttlMs: config.gate.ttlMs,
          receiptWaitMs: config.gate.receiptWaitMs,
          newId: randomUUID,
          now,
        }),
        agentOf: agents.turnAgent,
        channelOf: rules.channelOf,
        perception: createMediaPerception(config.media, adapterOf, logger),
        run: agents.runtime.run,
        runWorkflow: agents.runtime.runWorkflow,
        enqueue,
        deliverPropuestas: async (record) => {
          const webhook = agents.proposalsWebhook(record.agent);
          if (webhook === undefined || record.address?.channel === "api") return;
          const data: PropuestasPost = {
            version: 1,
            webhook,
            body: { agent: record.agent, session: record.session, turn: record.id, propuestas: record.propuestas },
          };
          await propuestas.queue.add({ id: `prop-${record.id}`, key: record.session, data });
        },
        approvals: createTurnApprovals(store.approvals, now),
        perform: agents.runtime.perform,
        announce: (turn) => store.bus.publish(`turn:${turn}`, true),
        connectionsOf: async (handle) =>
          handle === undefined ? {} : overrides.parse((await store.secrets.read(handle)) ?? {}),
        forgetConnections: async (handle) => {
          await store.secrets.take(handle);
        },
        locale: config.gate.locale,
        presence: createPresence(({ channel, account }) => adapterOf(channel, account), store.bus),
        logger,
        now,
      });
      const consumer = await inbound.queue.consume(worker.process, { onDead: worker.dead });
      closers.push(() => consumer.close(graceMs));
      closers.push(approvals.sweep());
      const poster = await propuestas.queue.consume((job) => postPropuestas(job.data, job.signal));
      closers.push(() => poster.close(graceMs));
      const schedule = await startSchedule({
        workflows: [...loaded.workflows.values()],
        connections: store.connections,
        prefix: store.keyspace.prefix,
        add: (request, id) => inbound.queue.add({ id, key: request.session, data: request }),
        logger,
        now,
      });
      closers.push(() => schedule.close());
    }

    /** Receives on the account and sends on it, as far as this process is to. */
    async function startAccount(account: Account): Promise<void> {
      const { adapter, settings } = account;
      const line = outbound.get(`${adapter.channel}:${adapter.name}`);
      if (!line) return;
      const overConnection = adapter.capabilities.sendsOverConnection;
      let consumer: QueueConsumer | undefined;
      if (overConnection ? has("ingress") : has("sender")) {
        const sender = createSender({
          adapter,
          deliveries,
          slots,
          watch,
          limiter: createSendLimiter({
            redis: store.shard.redis,
            keyPrefix: `${store.shard.prefix}:limit:${adapter.channel}:${adapter.name}`,
            limits: limitsOf(adapter, settings.limits),
          }),
          enqueue,
          logger,
          now,
        });
        consumer = await line.queue.consume((job) => sender.send(job), {
          onDead: (job, reason) => sender.dead(job.data, reason),
        });
        const running = consumer;
        if (overConnection) await running.pause();
        else closers.push(() => running.close(graceMs));
      }
      if (!has("ingress")) return;
      let told = "";
      const tell = (): void => {
        const status = adapter.status();
        const words = `${status.state} ${status.reason ?? ""}`;
        if (words !== told) {
          const { channel, name: account } = adapter;
          const { state, reason } = status;
          logger[state === "open" ? "info" : "warn"]({ channel, account, state, reason }, "channel");
        }
        told = words;
        void store.status.put(adapter.channel, adapter.name, status).catch(() => undefined);
        if (!consumer || !overConnection) return;
        void (status.state === "open" ? consumer.resume() : consumer.pause()).catch(() => undefined);
      };
      account.onStatus(tell);
      await adapter.start();
      tell();
      const timer = setInterval(tell, statusEveryMs);
      const unfollow = overConnection ? await followPresence(adapter, store.bus) : undefined;
      const unpair = adapter.beginPairing ? await followPairing(adapter, store.bus) : undefined;
      closers.push(async () => {
        clearInterval(timer);
        unfollow?.();
        unpair?.();
        // What is being sent ends before the connection that it is sent on.
        if (overConnection) await consumer?.close(graceMs);
        await adapter.stop();
        await store.status.remove(adapter.channel, adapter.name).catch(() => undefined);
      });
    }

    async function startHttp(): Promise<HttpServer> {
      const app = createHttpApp({
        token: config.http.token,
        adapterOf,
        channels: async () =>
          Promise.all(
            [...accounts.values()].map(async ({ adapter, settings }) => ({
              channel: adapter.channel,
              name: adapter.name,
              agent: settings.agent,
              ...((await store.status.read(adapter.channel, adapter.name)) ?? {
                state: "stopped" as const,
                reason: "No process receives on this account.",
                since: now(),
              }),
            })),
          ),
        agents: agents.list,
        workflows: () => [...loaded.workflows.values()].map(({ name, description }) => ({ name, description })),
        runs: createRunDesk({
          inbound: inbound.queue,
          turns: store.turns,
          signals: store.turnSignals,
          newTurnId: () => `t-${randomUUID()}`,
          now,
        }),
        responses: createResponseDelivery({ deliveries, slots, watch, now }),
        seal: (connections) => store.secrets.put("run", connections),
        turns: store.turns,
        deliveries,
        evidence,
        unsettled: store.unsettled,
        approvals,
        policies: async () => {
          const rules = policies?.rules ?? [];
          const counts = await store.policyCounts.read(rules.map(({ id }) => id));
          return { ledger: isOff() ? "off" : "on", rules, counts };
        },
        pairing: createPairingDesk(store.bus),
        queues: queues.map(({ bull }) => bull),
        readiness: async () => {
          const redis = await store.connections.ping().then(
            () => "ok",
            () => "does not answer",
          );
          return { ready: redis === "ok", parts: { redis } };
        },
        metrics: metrics.read,
        logger,
        now,
      });
      const { host, port } = config.http;
      const server = await listen(app, host, port).catch((error: NodeJS.ErrnoException) => {
        throw new DaleError("config_invalid", `Port ${port} on ${host} cannot be listened on (${error.code}).`, {
          cause: error,
        });
      });
      closers.push(async () => {
        // An open chat page follows its chat for ever: the server would wait for it until the grace is over.
        const pages = [...accounts.values()].filter(({ adapter }) => adapter.channel === "webchat");
        await Promise.all(pages.map(({ adapter }) => adapter.stop()));
        await server.close(graceMs);
      });
      return server;
    }

    function addresses(server: HttpServer): readonly string[] {
      const base = `http://${server.host.includes(":") ? `[${server.host}]` : server.host}:${server.port}`;
      const chats = config.channels.filter(({ channel }) => channel === "webchat");
      return [
        "",
        ...chats.map(({ name, agent }) => `  Chat with ${agent}:  ${base}/chat/${name}`),
        `  Console:  ${base}/`,
        `  Queues:   ${base}/queues`,
        "",
      ];
    }
  }

  return {
    start,
    async stop() {
      for (const close of closers.splice(0).reverse()) {
        await Promise.resolve(close()).catch((error: unknown) => logger.warn({ error }, "not closed cleanly"));
      }
    },
  };
}

function limitsOf(adapter: ChannelAdapter, set: Account["settings"]["limits"]) {
  const own = adapter.capabilities.limits;
  if (set.account === "off" && set.chat === "off") return undefined;
  const unlimited = { count: 1_000_000, perMs: 1000 };
  const pick = (value: typeof set.account, otherwise: typeof own.account) =>
    value === "off" ? unlimited : (value ?? otherwise);
  const chat = pick(set.chat, own.chat);
  return {
    account: pick(set.account, own.account),
    chat,
    group: set.chat === undefined ? (own.group ?? own.chat) : chat,
  };
}
