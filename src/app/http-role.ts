import { randomUUID } from "node:crypto";
import { DaleError } from "../errors/index.js";
import { type ChannelListing, createHttpApp, type HttpServer, listen } from "../http/index.js";
import { isOff } from "../ledger/index.js";
import { createResponseDelivery } from "../outbound/index.js";
import { createRunDesk } from "../turns/index.js";
import type { Account } from "./accounts.js";
import type { Core } from "./core.js";
import { createPairingDesk } from "./pairing.js";

/** Serves webhooks, webchat, the API and the console. */
export async function startHttpRole(core: Core, graceMs: number): Promise<HttpServer> {
  const { config, loaded, store, lines, agents, inbound, deliveries, logger, now } = core;
  const { slots } = store;
  const app = createHttpApp({
    token: config.http.token,
    adapterOf: core.adapterOf,
    channels: () => Promise.all([...lines.values()].map(({ account }) => listing(core, account))),
    agents: agents.list,
    workflows: () => [...loaded.workflows.values()].map(({ name, description }) => ({ name, description })),
    runs: createRunDesk({
      inbound: inbound.queue,
      turns: store.turns,
      signals: store.turnSignals,
      newTurnId: () => `t-${randomUUID()}`,
      now,
    }),
    responses: createResponseDelivery({ deliveries, slots, watch: core.watch, now }),
    seal: (connections) => store.secrets.put("run", connections),
    turns: store.turns,
    deliveries,
    evidence: core.evidence,
    unsettled: store.unsettled,
    approvals: core.approvals,
    policies: async () => {
      const rules = loaded.policies?.rules ?? [];
      const counts = await store.policyCounts.read(rules.map(({ id }) => id));
      return { ledger: isOff() ? "off" : "on", rules, counts };
    },
    pairing: createPairingDesk(store.bus),
    queues: core.queues.map(({ bull }) => bull),
    readiness: async () => {
      const redis = await store.connections.ping().then(
        () => "ok",
        () => "does not answer",
      );
      return { ready: redis === "ok", parts: { redis } };
    },
    metrics: core.metrics.read,
    logger,
    now,
  });
  const { host, port } = config.http;
  const server = await listen(app, host, port).catch((error: NodeJS.ErrnoException) => {
    const says = `Port ${port} on ${host} cannot be listened on (${error.code}).`;
    throw new DaleError("config_invalid", says, { cause: error });
  });
  core.onStop(async () => {
    // An open chat page follows its chat for ever: the server would wait for it until the grace is over.
    const pages = [...lines.values()].filter(({ account }) => account.adapter.channel === "webchat");
    await Promise.all(pages.map(({ account }) => account.adapter.stop()));
    await server.close(graceMs);
  });
  return server;
}

async function listing({ store, now }: Core, { adapter, settings }: Account): Promise<ChannelListing> {
  const status = await store.status.read(adapter.channel, adapter.name);
  return {
    channel: adapter.channel,
    name: adapter.name,
    agent: settings.agent,
    ...(status ?? { state: "stopped", reason: "No process receives on this account.", since: now() }),
  };
}
