import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EvidenceArchive, InstallationKeys } from "../../src/evidence/index.js";
import { evidenceEntry, testKeys } from "../fixtures/evidence.js";

export interface ArchiveRig {
  /** The same archive, opened by one more process (one after the other where only one may have it). */
  open(keys: InstallationKeys): EvidenceArchive;
  close(): Promise<void>;
}

/** What an archive keeps, and how it is read. Each test has sessions and proposals of its own. */
export function evidenceArchiveContract(title: string, create: () => Promise<ArchiveRig>): void {
  describe(`evidence archive: ${title}`, () => {
    const keys = testKeys();
    let rig: ArchiveRig;
    let archive: EvidenceArchive;
    beforeAll(async () => {
      rig = await create();
      archive = rig.open(keys);
      // Making the database is no test's own time.
      await archive.list({ session: "telegram:bot:0:0" });
    }, 120_000);
    afterAll(async () => {
      await archive?.close();
      await rig?.close();
    });

    let tests = 0;
    /** Entries of a new session, a millisecond apart. */
    const story = (types: readonly string[], more: { readonly from?: number } = {}) => {
      const n = ++tests;
      const session = `telegram:bot:${n}:${n}`;
      const entries = types.map((type, index) =>
        evidenceEntry(`${n}-${index}`, { session, type, proposal: `p-${n}`, at: (more.from ?? 1_000) + index }),
      );
      return { session, proposal: `p-${n}`, entries };
    };

    it("gives back what it was given, by session and by proposal", async () => {
      const { session, proposal, entries } = story(["proposed", "granted", "executed"]);
      await archive.append([{ session, entries }]);
      expect(await archive.list({ session })).toEqual(entries);
      expect(await archive.list({ proposal })).toEqual(entries);
      expect(await archive.list({ session, proposal })).toEqual(entries);
      expect(await archive.list({ session, proposal: "p-other" })).toEqual([]);
      expect(await archive.list({ session: "telegram:bot:0:0" })).toEqual([]);
    });

    it("keeps any text that a person or a back end can produce", async () => {
      const { session, entries } = story(["executed"]);
      const odd = entries.map((entry) => ({ ...entry, detail: { result: '\u0000 \ud800 🇦🇷 "\\ \u202e', n: -0.5 } }));
      await archive.append([{ session, entries: odd }]);
      expect(await archive.list({ session })).toEqual(odd);
    });

    it("keeps the order of a session, whatever the times say, over several batches", async () => {
      const { session, entries } = story(["proposed", "granted", "consumed", "executed"]);
      const backwards = entries.map((entry, index) => ({ ...entry, at: 9_000 - index }));
      await archive.append([{ session, entries: backwards.slice(0, 2) }]);
      await archive.append([{ session, entries: backwards.slice(2) }]);
      expect((await archive.list({ session })).map(({ type }) => type)).toEqual(entries.map(({ type }) => type));
    });

    it("writes an entry once, however often it is offered", async () => {
      const { session, entries } = story(["proposed", "granted", "executed"]);
      await archive.append([{ session, entries: entries.slice(0, 2) }]);
      await archive.append([{ session, entries: [...entries, ...entries] }]);
      await archive.append([{ session, entries }]);
      expect(await archive.list({ session })).toEqual(entries);
    });

    it("lists the newest, oldest first", async () => {
      const far = 4_000_000_000_000;
      const one = story(["proposed", "granted"], { from: far });
      const other = story(["proposed", "executed"], { from: far + 1 });
      await archive.append([one, other]);
      expect((await archive.list({ session: one.session, limit: 1 })).map(({ type }) => type)).toEqual(["granted"]);
      const newest = await archive.list({ limit: 3 });
      expect(newest.map(({ at }) => at - far)).toEqual([1, 1, 2]);
      expect(await archive.list({ limit: 0 })).toEqual([]);
    });

    it("lists what happened aside only when asked to, and counts them only then", async () => {
      const { session, proposal, entries } = story(["proposed", "delivery", "confirmation", "granted", "delivery"]);
      await archive.append([{ session, entries }]);
      const types = async (all: boolean) => (await archive.list({ proposal, all, limit: 2 })).map(({ type }) => type);
      expect(await types(false)).toEqual(["proposed", "granted"]);
      expect(await types(true)).toEqual(["granted", "delivery"]);
    });

    it("appends many sessions at once, and more rows than one statement takes", async () => {
      const stories = Array.from({ length: 40 }, () => story(Array.from({ length: 30 }, (_, n) => `step ${n}`)));
      await archive.append(stories);
      for (const { session, entries } of [stories[0], stories[39]].flatMap((each) => each ?? [])) {
        expect(await archive.list({ session })).toEqual(entries);
      }
    });

    it("appends all of a batch or nothing", async () => {
      const good = story(["proposed"]);
      const bad = story(["proposed"]);
      const entries = bad.entries.map((entry) => ({ ...entry, tool: "a\u0000b" }));
      await expect(archive.append([good, { ...bad, entries }])).rejects.toMatchObject({ code: "evidence_refused" });
      expect(await archive.list({ session: good.session })).toEqual([]);
      await archive.append([good]);
      expect(await archive.list({ session: good.session })).toEqual(good.entries);
    });

    it("is the same archive when it is opened again, and refuses another installation's key", async () => {
      const { session, entries } = story(["proposed"]);
      await archive.append([{ session, entries }]);
      const id = await archive.id();
      await archive.close();
      const stranger = rig.open(testKeys());
      await expect(stranger.list({ session })).rejects.toMatchObject({ code: "archive_foreign" });
      await stranger.close();
      archive = rig.open(keys);
      expect(await archive.id()).toBe(id);
      expect(await archive.list({ session })).toEqual(entries);
    });
  });
}
