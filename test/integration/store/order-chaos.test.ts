import { expect, it } from "vitest";
import { runOrderChaos } from "../../fixtures/order-chaos.js";

const nothingLost = { lost: 0, reordered: 0, twice: 0, left: { waiting: 0, active: 0, failed: 0 } };

it("loses, reorders and repeats nothing when workers and Redis are killed and frozen", {
  timeout: 60_000,
}, async () => {
  const result = await runOrderChaos({
    sessions: 20,
    messages: 12,
    pauseMs: 400,
    turnMs: 60,
    workers: 2,
    async faults({ killWorker, freezeWorker, killRedis, wait }) {
      await wait(400);
      await killWorker(0, 100);
      await killRedis();
      await wait(300);
      await freezeWorker(1, 2500);
    },
  });
  expect(result).toMatchObject(nothingLost);
});
