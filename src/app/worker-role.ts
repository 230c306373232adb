import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createGateDesk, createTurnWorker } from "../turns/index.js";
import { createTurnApprovals } from "./approvals.js";
import type { Core } from "./core.js";
import { createMediaPerception } from "./perception.js";
import { createPresence } from "./presence.js";
import { type PropuestasPost, postPropuestas } from "./propuestas-post.js";
import { startSchedule } from "./schedule.js";
import { watchedTurns } from "./watched.js";

const overrides = z.record(z.string(), z.record(z.string(), z.string()));

/** Takes turns out of the inbound queue; posts propuestas; starts workflows at their times. */
export async function startWorkerRole(core: Core, graceMs: number): Promise<void> {
  const { config, loaded, store, inbound, propuestas, rules, agents, approvals, logger, now, onStop } = core;
  const worker = createTurnWorker({
    turns: watchedTurns(store.turns, core.metrics),
    memory: store.memory,
    desk: createGateDesk({
      slots: store.slots,
      ttlMs: config.gate.ttlMs,
      receiptWaitMs: config.gate.receiptWaitMs,
      newId: randomUUID,
      now,
    }),
    agentOf: agents.turnAgent,
    channelOf: rules.channelOf,
    perception: createMediaPerception(config.media, core.adapterOf, logger),
    run: agents.runtime.run,
    runWorkflow: agents.runtime.runWorkflow,
    perform: agents.runtime.perform,
    enqueue: core.enqueue,
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
    announce: (turn) => store.bus.publish(`turn:${turn}`, true),
    connectionsOf: async (handle) =>
      handle === undefined ? {} : overrides.parse((await store.secrets.read(handle)) ?? {}),
    forgetConnections: async (handle) => {
      await store.secrets.take(handle);
    },
    locale: config.gate.locale,
    presence: createPresence(({ channel, account }) => core.adapterOf(channel, account), store.bus),
    logger,
    now,
  });
  const consumer = await inbound.queue.consume(worker.process, { onDead: worker.dead });
  onStop(() => consumer.close(graceMs));
  onStop(approvals.sweep());
  const poster = await propuestas.queue.consume((job) => postPropuestas(job.data, job.signal));
  onStop(() => poster.close(graceMs));
  const schedule = await startSchedule({
    workflows: [...loaded.workflows.values()],
    connections: store.connections,
    prefix: store.keyspace.prefix,
    add: (request, id) => inbound.queue.add({ id, key: request.session, data: request }),
    logger,
    now,
  });
  onStop(() => schedule.close());
}
