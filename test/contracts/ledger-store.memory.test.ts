import { expect, it } from "vitest";
import { createMemoryLedgerStore } from "../../src/ledger/index.js";
import { ledgerStoreContract } from "./ledger-store.js";

ledgerStoreContract("memory", async () => {
  const store = createMemoryLedgerStore();
  return { open: () => store, close: () => store.close() };
});

const kept = (id: string) =>
  ({
    version: 1,
    id,
    tool: "t",
    kind: "confirmation",
    outcome: "approved",
    role: "user",
    at: 1,
    binding: { to: "tool" },
  }) as const;

it("remembers a thousand sessions: of more, the one that was written longest ago goes", async () => {
  const store = createMemoryLedgerStore();
  const count = async (scope: string) =>
    (await store.find({ scope, tool: "t", carried: [], since: 0, limit: 10 })).length;
  for (let n = 0; n < 1000; n++) await store.record(`session:${n}`, kept(`c-${n}`));
  await store.record("session:0", kept("again"));
  await store.record("session:1000", kept("c-1000"));
  expect(await Promise.all(["session:0", "session:1", "session:2", "session:1000"].map(count))).toEqual([2, 0, 1, 1]);
});

it("does not use a confirmation that is gone with its session", async () => {
  const store = createMemoryLedgerStore();
  await store.record("session:0", kept("c-0"));
  for (let n = 1; n <= 1000; n++) await store.record(`session:${n}`, kept(`c-${n}`));
  expect(await store.use("session:0", [{ id: "c-0" }], 1)).toBe(false);
});
