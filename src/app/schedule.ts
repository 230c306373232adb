import { Queue, Worker } from "bullmq";
import type { WorkflowDefinition } from "../agents/spec/index.js";
import { digestId } from "../canonical/index.js";
import type { Connections } from "../store/index.js";
import type { TurnRequest } from "../turns/index.js";
import type { Logger } from "./logger.js";

export interface ScheduleOptions {
  readonly workflows: readonly WorkflowDefinition[];
  readonly connections: Connections;
  readonly prefix: string;
  /** Durable and idempotent by the id. */
  readonly add: (request: Extract<TurnRequest, { kind: "run" }>, id: string) => Promise<unknown>;
  readonly logger: Logger;
  readonly now: () => number;
}

interface Tick {
  readonly workflow: string;
  readonly query: string;
}

/**
 * Starts workflows at their times, once for all processes: BullMQ keeps the schedule, a tick's id makes it one run. A
 * schedule that no file declares any more is removed.
 */
export async function startSchedule(options: ScheduleOptions): Promise<{ close(): Promise<void> }> {
  const { prefix, logger } = options;
  const queue = new Queue<Tick>("schedule", { connection: options.connections.prompt, prefix });
  queue.on("error", () => undefined);
  const declared = new Map<string, Parameters<Queue<Tick>["upsertJobScheduler"]>>();
  for (const workflow of options.workflows) {
    for (const [index, trigger] of workflow.triggers.entries()) {
      if (trigger.kind !== "schedule") continue;
      const id = `${workflow.name}-${index}`;
      const data: Tick = { workflow: workflow.name, query: trigger.query };
      declared.set(id, [
        id,
        { pattern: trigger.cron, tz: trigger.timezone },
        { name: workflow.name, data, opts: { removeOnComplete: 100, removeOnFail: 1000, attempts: 10 } },
      ]);
    }
  }
  for (const { key } of await queue.getJobSchedulers()) {
    if (!declared.has(key)) await queue.removeJobScheduler(key);
  }
  for (const schedule of declared.values()) await queue.upsertJobScheduler(...schedule);

  const worker = new Worker<Tick>(
    "schedule",
    async (job) => {
      const { workflow, query } = job.data;
      const request = {
        version: 1,
        kind: "run",
        origin: "schedule",
        target: "workflow",
        agent: workflow,
        session: `schedule:${workflow}`,
        query,
        desdeHumano: false,
        receivedAt: options.now(),
      } as const;
      await options.add(request, digestId("t-", "schedule", job.id ?? "", job.timestamp));
      logger.info({ workflow }, "workflow started by its schedule");
    },
    { connection: options.connections.patient("schedule"), prefix },
  );
  worker.on("error", () => undefined);
  return {
    async close() {
      await worker.close();
      await queue.close();
    },
  };
}
