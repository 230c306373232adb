import { expect, it } from "vitest";
import { createMemoryChannelStore } from "../../src/store/index.js";
import { channelStoreContract } from "./channel-store.js";

channelStoreContract("memory", async () => {
  const store = createMemoryChannelStore();
  const other = createMemoryChannelStore();
  return { open: () => store, other: () => other, close: async () => {} };
});

it("can be told to lose its lease, as if the holder had been away too long", async () => {
  const store = createMemoryChannelStore();
  const lease = await store.acquireLease(1_000);
  store.breakLease();
  expect(lease?.lost.aborted).toBe(true);
  expect((await store.acquireLease(1_000))?.fence).toBeGreaterThan(lease?.fence ?? 0);
});
