import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/agents/spec/index.js";
import { createLogger } from "../../../src/app/index.js";
import { startSchedule } from "../../../src/app/schedule.js";
import { createConnections } from "../../../src/store/index.js";
import { silentLogger } from "../../fixtures/logger.js";
import { testPrefix } from "../../fixtures/redis.js";

/** Every second: BullMQ takes a sixth field, which a file may not use. */
const workflow = (name: string): WorkflowDefinition => ({
  name,
  version: "0.1.0",
  file: `${name}.workflow.yaml`,
  description: "",
  triggers: [{ kind: "schedule", cron: "* * * * * *", timezone: "UTC", query: "now" }],
  timeoutMs: 1000,
  tools: [],
  steps: [],
});

it("starts each tick once, however many processes there are, and forgets what no file declares any more", async () => {
  const connections = createConnections({ address: { socket: inject("redisSocket") }, logger: silentLogger });
  await connections.ready();
  const prefix = testPrefix();
  const started: { id: string; agent: string; desdeHumano: boolean; session: string }[] = [];
  const open = (workflows: readonly WorkflowDefinition[]) =>
    startSchedule({
      workflows,
      connections,
      prefix,
      add: async ({ agent, desdeHumano, session }, id) => started.push({ id, agent, desdeHumano, session }),
      logger: createLogger({ level: "error" }),
      now: Date.now,
    });
  const both = [await open([workflow("informe")]), await open([workflow("informe")])];
  await sleep(3500);
  await Promise.all(both.map((each) => each.close()));
  expect(started.length).toBeGreaterThanOrEqual(2);
  expect(new Set(started.map(({ id }) => id)).size).toBe(started.length);
  expect(started.length).toBeLessThanOrEqual(5);
  expect(started[0]).toMatchObject({ agent: "informe", desdeHumano: false, session: "schedule:informe" });

  started.length = 0;
  const other = await open([]);
  await sleep(2200);
  await other.close();
  expect(started).toEqual([]);
  await connections.close();
});
