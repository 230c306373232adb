import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Backlog } from "../evidence/index.js";
import type { QueueCounts } from "../queue/index.js";

/** What Prometheus reads at /metrics. Labels name accounts and agents, never people. */
export interface Metrics {
  readonly decisions: Counter<"decision">;
  readonly turns: Counter<"agent" | "outcome">;
  readonly turnSeconds: Histogram<"agent">;
  readonly inbound: Counter<"channel" | "account" | "result">;
  readonly channelEvents: Counter<"channel" | "account" | "event">;
  readonly deliveries: Counter<"channel" | "account" | "state">;
  readonly approvals: Counter<"outcome">;
  readonly policyChecks: Counter<"rule" | "mode" | "reason">;
  read(): Promise<{ contentType: string; text: string }>;
}

export function createMetrics(
  queues: () => readonly { name: string; counts: () => Promise<QueueCounts> }[],
  backlog: () => Promise<Backlog> = async () => ({ sessions: 0 }),
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  new Gauge({
    name: "dale_queue_jobs",
    help: "Jobs of a queue by state.",
    labelNames: ["queue", "state"],
    registers,
    async collect() {
      this.reset();
      for (const queue of queues()) {
        for (const [state, count] of Object.entries(await queue.counts()))
          this.set({ queue: queue.name, state }, count);
      }
    },
  });
  const waiting = new Gauge({
    name: "dale_evidence_waiting_sessions",
    help: "Sessions with evidence that has not been archived yet.",
    registers,
  });
  new Gauge({
    name: "dale_evidence_waiting_seconds",
    help: "For how long the oldest evidence has been waiting to be archived.",
    registers,
    async collect() {
      const { sessions, since } = await backlog();
      waiting.set(sessions);
      this.set(since === undefined ? 0 : Math.max(0, (Date.now() - since) / 1000));
    },
  });
  return {
    decisions: new Counter({
      name: "dale_gate_decisions_total",
      help: "What people's messages came to at the gate.",
      labelNames: ["decision"],
      registers,
    }),
    turns: new Counter({
      name: "dale_turns_total",
      help: "Turns by agent and outcome.",
      labelNames: ["agent", "outcome"],
      registers,
    }),
    turnSeconds: new Histogram({
      name: "dale_turn_seconds",
      help: "From the start of a turn to its committed answer.",
      labelNames: ["agent"],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    }),
    inbound: new Counter({
      name: "dale_inbound_messages_total",
      help: "Inbound messages by what became of them.",
      labelNames: ["channel", "account", "result"],
      registers,
    }),
    channelEvents: new Counter({
      name: "dale_channel_events_total",
      help: "Things that adapters counted, such as updates that they do not hand on.",
      labelNames: ["channel", "account", "event"],
      registers,
    }),
    deliveries: new Counter({
      name: "dale_deliveries_total",
      help: "Sent parts by the states that they reached.",
      labelNames: ["channel", "account", "state"],
      registers,
    }),
    approvals: new Counter({
      name: "dale_approvals_total",
      help: "Approvals by what became of them.",
      labelNames: ["outcome"],
      registers,
    }),
    policyChecks: new Counter({
      name: "dale_policy_checks_total",
      help: "Calls that a rule of policies.yaml applied to, by what it came to.",
      labelNames: ["rule", "mode", "reason"],
      registers,
    }),
    async read() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}
