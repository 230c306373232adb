import { describe, expect, it } from "vitest";
import { type ChaosHands, type OrderChaosResult, runOrderChaos } from "../fixtures/order-chaos.js";

/** How often each kind of trouble is gone through; `DALE_CHAOS_ROUNDS=20 npm run chaos` for a long night. */
const rounds = Number(process.env.DALE_CHAOS_ROUNDS ?? 1);

const troubles: Readonly<Record<string, (hands: ChaosHands) => Promise<void>>> = {
  "workers are killed": async ({ killWorker, wait }) => {
    for (const index of [0, 1, 0, 1]) {
      await wait(1000);
      await killWorker(index, 300);
    }
  },
  "all workers are killed at once": async ({ killWorker, wait }) => {
    await wait(1500);
    await Promise.all([killWorker(0, 1500), killWorker(1, 3000)]);
  },
  "workers are restarted, as for a new version": async ({ restartWorker, wait }) => {
    for (const index of [0, 1, 0, 1]) {
      await wait(1000);
      await restartWorker(index);
    }
  },
  "workers are frozen, and come back as zombies": async ({ freezeWorker, wait }) => {
    await wait(1000);
    await freezeWorker(0, 4000);
    await freezeWorker(1, 4000);
  },
  "Redis is killed": async ({ killRedis, wait }) => {
    for (let times = 0; times < 3; times++) {
      await wait(1500);
      await killRedis();
    }
  },
  "Redis hangs": async ({ freezeRedis, wait }) => {
    await wait(1000);
    await freezeRedis(1000);
    await wait(1000);
    await freezeRedis(4000);
  },
  "everything at once": async ({ killWorker, freezeWorker, killRedis, freezeRedis, wait }) => {
    await wait(800);
    await Promise.all([killWorker(0, 500), freezeWorker(1, 3000), killRedis()]);
    await Promise.all([freezeRedis(2000), killWorker(1, 200)]);
    await killRedis();
    await killWorker(0, 0);
  },
};

describe.each(Object.entries(troubles))("while %s", (name, faults) => {
  it.each(Array.from({ length: rounds }, (_, round) => round + 1))(
    "loses and reorders nothing (round %i)",
    async () => {
      const result = await runOrderChaos({
        sessions: 60,
        messages: 20,
        pauseMs: 500,
        turnMs: 100,
        workers: 2,
        faults,
      });
      report(name, result);
      expect(result).toMatchObject({ lost: 0, reordered: 0, twice: 0, left: { waiting: 0, active: 0, failed: 0 } });
    },
  );
});

function report(name: string, { added, lost, reordered, twice, extraRuns, retriedAdds }: OrderChaosResult): void {
  const counts = `lost ${lost}, reordered ${reordered}, effects twice ${twice}, runs repeated ${extraRuns}, adds retried ${retriedAdds}`;
  console.log(`${name}: ${added} messages: ${counts}`);
}
