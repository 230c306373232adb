import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Attack } from "../attacks/attack.js";
import type { Processes } from "../attacks/cases/replicas.js";
import { doubleYeses } from "../attacks/double-yes.js";
import { type Fortress, startReplicas } from "../attacks/installation.js";
import { apiStage } from "../attacks/stages/api.js";
import { createTrial } from "../attacks/trial.js";

let fortress: Fortress;

beforeEach(async () => {
  fortress = await startReplicas();
}, 60_000);
afterEach(() => fortress.close(), 60_000);

/** A thousand people, on Telegram and over the API, two workers. @param meanwhile what happens while they say yes */
async function thousand(meanwhile?: (processes: Processes) => Promise<void>) {
  const { place, processes, outside, stages, tick } = fortress;
  if (!processes) throw new Error("there are no processes");
  processes.workers.push(await processes.startWorker());
  expect(processes.workers).toHaveLength(2);
  const attack: Attack = { id: "thousand", what: "a thousand double yeses", must: "1", run: async () => "1" };
  const trial = createTrial({ place, tick, ...outside }, attack, { ...apiStage(place), slug: "thousand" });
  const came = await doubleYeses(trial, [...stages, apiStage(place)], 1000, async () => meanwhile?.(processes));
  console.log(JSON.stringify(came));
  expect(trial.unauthorised()).toBe(0);
  return came;
}

it("runs each of a thousand plans once, though everybody says yes twice at the same moment to two workers", async () => {
  expect(await thousand()).toMatchObject({ people: 1000, grants: 1000, executions: 1000, twice: 0 });
});

it("runs none of them twice when a worker is killed in the middle", async () => {
  const came = await thousand(async (processes) => {
    await sleep(2000);
    const [killed] = processes.workers.splice(0, 1);
    await killed?.kill();
    processes.workers.push(await processes.startWorker());
  });
  expect(came).toMatchObject({ people: 1000, grants: 1000, twice: 0 });
  expect(came.executions).toBeLessThanOrEqual(1000);
  // What it was at when it was killed is unknown, and not repeated.
  expect(came.executions).toBeGreaterThan(900);
});
