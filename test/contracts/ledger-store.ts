import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Confirmation, LedgerStore } from "../../src/ledger/index.js";

export interface LedgerStoreRig {
  /** The store in one more process (the same object where there is but one). */
  open(): LedgerStore;
  close(): Promise<void>;
}

const scope = "session:telegram:bot:7:7";
const hour = 3_600_000;

/** What a LedgerStore keeps. */
export function ledgerStoreContract(title: string, create: () => Promise<LedgerStoreRig>): void {
  describe(`ledger store: ${title}`, () => {
    let rig: LedgerStoreRig;
    let store: LedgerStore;
    let clock: number;

    beforeEach(async () => {
      rig = await create();
      store = rig.open();
      clock = 1_700_000_000_000;
    });
    afterEach(() => rig.close());

    const confirmation = (over: Partial<Confirmation> = {}): Confirmation => ({
      version: 1,
      id: randomUUID(),
      tool: "issue_refund",
      kind: "confirmation",
      outcome: "approved",
      role: "user",
      at: clock++,
      binding: { to: "tool" },
      ...over,
    });
    const record = async (over: Partial<Confirmation> = {}, to = scope): Promise<Confirmation> => {
      const made = confirmation(over);
      await store.record(to, made);
      return made;
    };
    const find = (over: Partial<Parameters<LedgerStore["find"]>[0]> = {}, from = store) =>
      from.find({ scope, tool: "issue_refund", carried: [], since: 0, limit: 10, ...over });

    it("finds in any process what was recorded in one", async () => {
      const made = await record({
        ref: "m-1",
        binding: { to: "arguments", scheme: "sha256", hash: "ab", fields: { "a.b": "cd" }, only: true },
      });
      expect(await find({}, rig.open())).toEqual([{ ...made, used: false }]);
    });

    it("keeps scopes and tools apart", async () => {
      await record();
      await record({ tool: "other" });
      expect(await find({ scope: "session:telegram:bot:8:8" })).toEqual([]);
      expect(await find({ scope: "trace:telegram:bot:7:7" })).toEqual([]);
      expect(await find({ tool: "issue" })).toEqual([]);
      expect(await find({ tool: "other" })).toHaveLength(1);
    });

    it("gives the newest of the tool, newest first, and no more than asked for", async () => {
      const made = [];
      for (let n = 0; n < 12; n++) {
        made.push(await record());
        await record({ tool: "other" });
      }
      const found = await find({ limit: 10 });
      expect(found.map(({ id }) => id)).toEqual(
        made
          .toReversed()
          .slice(0, 10)
          .map(({ id }) => id),
      );
    });

    it("keeps fifty of a scope: of more the oldest goes", async () => {
      const made = [];
      for (let n = 0; n < 51; n++) made.push(await record({ tool: n % 2 === 0 ? "issue_refund" : "other" }));
      const found = [...(await find({ limit: 100 })), ...(await find({ tool: "other", limit: 100 }))];
      expect(found).toHaveLength(50);
      expect(found.map(({ id }) => id)).not.toContain(made[0]?.id);
    });

    it("does not find what is too old", async () => {
      const made = await record();
      expect(await find({ since: made.at })).toHaveLength(1);
      expect(await find({ since: made.at + 1 })).toEqual([]);
    });

    it("uses a confirmation once, whichever process asks", async () => {
      const { id } = await record();
      expect(await store.use(scope, [{ id }], clock)).toBe(true);
      expect(await rig.open().use(scope, [{ id }], clock)).toBe(false);
      expect(await find({}, rig.open())).toMatchObject([{ id, used: true }]);
    });

    it("lets one of many who ask at once use it", async () => {
      const { id } = await record({ ref: "m-1" });
      const asked = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? store : rig.open()).use(scope, [{ id, ref: "m-1" }], clock),
        ),
      );
      expect(asked.filter(Boolean)).toHaveLength(1);
    });

    it("uses all of several or none", async () => {
      const one = await record();
      const other = await record();
      expect(await store.use(scope, [{ id: one.id }], clock)).toBe(true);
      expect(await store.use(scope, [{ id: other.id }, { id: one.id }], clock)).toBe(false);
      expect(await store.use(scope, [{ id: other.id, ref: "m-9" }], clock)).toBe(true);
      expect(await store.use(scope, [{ ref: "m-9" }], clock)).toBe(false);
    });

    it("spends a ref with whatever carries it, in whatever scope", async () => {
      const { id } = await record({ ref: "m-1" });
      const carried = [confirmation({ id: "carried:m-1", ref: "m-1" })];
      expect((await find({ carried })).map(({ used }) => used)).toEqual([false, false]);
      expect(await store.use(scope, [{ ref: "m-1" }], clock)).toBe(true);
      expect((await find({ carried }, rig.open())).map(({ used }) => used)).toEqual([true, true]);
      expect(await store.use(scope, [{ id, ref: "m-1" }], clock)).toBe(false);
      for (const other of ["session:other", "trace:x"]) {
        expect(await find({ scope: other, carried })).toMatchObject([{ used: true }]);
        expect(await rig.open().use(other, [{ ref: "m-1" }], clock)).toBe(false);
      }
    });

    it("lets one of many scopes that ask at once spend a ref", async () => {
      const asked = await Promise.all(
        Array.from({ length: 20 }, (_, n) => rig.open().use(`session:${n}`, [{ ref: "m-1" }], clock)),
      );
      expect(asked.filter(Boolean)).toHaveLength(1);
    });

    it("remembers a spent ref longer than any confirmation is kept", async () => {
      expect(await store.use(scope, [{ ref: "m-1" }], clock)).toBe(true);
      const later = clock + 5 * hour;
      await store.use(scope, [{ id: (await record({ at: later })).id }], later);
      const carried = [confirmation({ id: "carried:m-1", ref: "m-1", at: later })];
      expect(await find({ carried, tool: "issue_refund", since: later })).toMatchObject([
        { used: true },
        { id: "carried:m-1", used: true },
      ]);
    });

    it("counts what is carried among the newest", async () => {
      const kept = await record();
      const carried = [confirmation({ id: "carried:m-1", ref: "m-1" }), confirmation({ id: "carried:m-2", at: 5 })];
      const found = await find({ carried, since: 10, limit: 2 });
      expect(found.map(({ id }) => id)).toEqual(["carried:m-1", kept.id]);
      expect(await find({ carried, since: 10, limit: 1 })).toMatchObject([{ id: "carried:m-1" }]);
    });
  });
}
