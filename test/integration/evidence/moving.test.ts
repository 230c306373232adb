import type { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createFullReader, createKeeper, createMover, type EvidenceJournal } from "../../../src/evidence/index.js";
import { appendEvidenceLua, evidenceAppend } from "../../../src/store/evidence-append.js";
import { createEvidenceJournal } from "../../../src/store/index.js";
import { createScript } from "../../../src/store/script.js";
import { evidenceEntry } from "../../fixtures/evidence.js";
import { openTestArchive, type TestArchive } from "../../fixtures/evidence-archive.js";
import { eventually } from "../../fixtures/gateway.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";

const script = createScript(`${appendEvidenceLua}\nappend_evidence(1, 1)\nreturn 1`);
const silent = { info() {}, warn() {}, error() {} };

describe("evidence on its way from the journal to the archive", () => {
  let test: TestArchive;
  beforeAll(async () => {
    test = await openTestArchive();
    await test.archive.id();
  }, 120_000);
  afterAll(() => test?.close());

  let redis: Redis;
  let prefix: string;
  let journal: EvidenceJournal;
  let n = 0;
  beforeEach(() => {
    redis = testRedis();
    prefix = testPrefix();
    journal = createEvidenceJournal({ redis, prefix });
  });
  afterEach(() => redis.disconnect());

  const newSession = () => `telegram:bot:${++n}:moving`;
  const entriesOf = (session: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      evidenceEntry(`${session}/${index}`, { session, proposal: `p of ${session}`, at: index }),
    );
  async function write(session: string, entries: ReturnType<typeof entriesOf>): Promise<void> {
    const { keys, args } = evidenceAppend(prefix, session, 1_000, entries);
    await script.run(redis, "writing evidence", keys, args);
  }
  const mover = (more: Partial<Parameters<typeof createMover>[0]> = {}) =>
    createMover({ journal, archive: test.archive, logger: silent, now: Date.now, ...more });
  const left = () => redis.keys(`${prefix.replace(/[{}]/g, "?")}:evidence*`);

  it("moves everything, in order, batch by batch, and leaves nothing behind", async () => {
    const sessions = [newSession(), newSession(), newSession()];
    for (const session of sessions) await write(session, entriesOf(session, 7));
    expect(await mover({ sessionsAtOnce: 2, entriesAtOnce: 3 }).pass()).toBe(21);
    expect(await left()).toEqual([]);
    for (const session of sessions) {
      expect(await test.archive.list({ session })).toEqual(entriesOf(session, 7));
    }
    expect(await mover().pass()).toBe(0);
  });

  it("moves nothing twice when it died between the archive and the journal", async () => {
    const session = newSession();
    await write(session, entriesOf(session, 3));
    const forget = async () => Promise.reject(new Error("killed"));
    await expect(mover({ journal: { ...journal, forget } }).pass()).rejects.toThrow("killed");
    expect(await journal.list({ session })).toHaveLength(3);
    await write(session, entriesOf(session, 5).slice(3));
    await mover().pass();
    expect(await test.archive.list({ session })).toEqual(entriesOf(session, 5));
    expect(await left()).toEqual([]);
  });

  it("moves nothing out of the journal that the archive did not take", async () => {
    const session = newSession();
    await write(session, entriesOf(session, 3));
    const append = async () => Promise.reject(new Error("away"));
    await expect(mover({ archive: { append } }).pass()).rejects.toThrow("away");
    expect(await journal.list({ session })).toEqual(entriesOf(session, 3));
  });

  it("keeps the order behind an entry that it cannot read, and moves all others", async () => {
    const [stuck, other] = [newSession(), newSession()];
    const entries = entriesOf(stuck, 4);
    await write(stuck, entries.slice(0, 2));
    await redis.xadd(`${prefix}:evidence:${stuck}`, "*", "id", "later", "json", '{"version":2,"id":"later"}');
    await write(stuck, entries.slice(2));
    await write(other, entriesOf(other, 2));
    await mover().pass();
    expect(await test.archive.list({ session: stuck })).toEqual(entries.slice(0, 2));
    expect(await test.archive.list({ session: other })).toHaveLength(2);
    expect(await redis.xlen(`${prefix}:evidence:${stuck}`)).toBe(3);
    expect(await journal.sessions(10)).toEqual([stuck]);
  });

  it("moves what comes before an entry that the archive refuses, and everybody else's", async () => {
    const [stuck, ...others] = [newSession(), newSession(), newSession()];
    const entries = entriesOf(stuck, 5).map((entry, index) => (index === 3 ? { ...entry, tool: "a\u0000b" } : entry));
    await write(stuck, entries);
    for (const other of others) await write(other, entriesOf(other, 2));
    await mover().pass();
    expect(await test.archive.list({ session: stuck })).toEqual(entries.slice(0, 3));
    for (const other of others) expect(await test.archive.list({ session: other })).toHaveLength(2);
    expect((await journal.list({ session: stuck })).map(({ id }) => id)).toEqual(entries.slice(3).map(({ id }) => id));
  });

  it("tries a session that was stuck again later", async () => {
    const session = newSession();
    await write(session, entriesOf(session, 1));
    let now = 0;
    let refuses = true;
    const append: typeof test.archive.append = async (batches) => {
      if (refuses) await test.archive.append([{ session, entries: [evidenceEntry("x", { session, tool: "\u0000" })] }]);
      await test.archive.append(batches);
    };
    const patient = mover({ archive: { append }, now: () => now });
    expect(await patient.pass()).toBe(0);
    refuses = false;
    expect(await patient.pass()).toBe(0);
    now += 10 * 60_000;
    expect(await patient.pass()).toBe(1);
  });

  it("is read as one list while it moves: nothing is missing, nothing is there twice", async () => {
    const session = newSession();
    const all = entriesOf(session, 120);
    const reader = createFullReader({ journal, archive: test.archive });
    const keeper = keeping();
    try {
      for (let written = 0; written < all.length; written += 4) {
        await write(session, all.slice(written, written + 4));
        const { entries, complete } = await reader.read({ session });
        expect(complete).toBe(true);
        expect(entries.map(({ id }) => id)).toEqual(all.slice(0, written + 4).map(({ id }) => id));
      }
    } finally {
      await keeper.close();
    }
    expect(await left()).not.toContain(`${prefix}:evidence-sessions`);
    expect(await left()).not.toContain(`${prefix}:evidence:${session}`);
    expect(await reader.list({ proposal: `p of ${session}`, limit: 3 })).toEqual(all.slice(-3));
  });

  const keeping = (more: Partial<Parameters<typeof createKeeper>[0]> = {}) =>
    createKeeper({
      journal,
      archive: test.archive,
      hold: async () => ({ release: async () => undefined }),
      exists: () => true,
      asleep: () => false,
      logger: silent,
      now: Date.now,
      everyMs: 5,
      ...more,
    });

  it("says when the archive cannot be asked, and lists what it does not have", async () => {
    const session = newSession();
    await write(session, entriesOf(session, 2));
    const archive = { list: async () => Promise.reject(new Error("away")) };
    expect(await createFullReader({ journal, archive }).read({ session })).toMatchObject({ complete: true });
    await journal.archive("an archive");
    const reading = await createFullReader({ journal, archive }).read({ session });
    expect(reading).toEqual({ complete: false, entries: entriesOf(session, 2) });
    const hanging = { list: () => new Promise<never>(() => {}) };
    expect(await createFullReader({ journal, archive: hanging, patienceMs: 10 }).read({ session })).toEqual(reading);
  });

  it("moves nothing into an archive that is not this journal's", async () => {
    await journal.archive("another archive");
    const session = newSession();
    await write(session, entriesOf(session, 1));
    const keeper = keeping();
    await expect(keeper.move()).rejects.toMatchObject({ code: "archive_foreign" });
    await keeper.close();
    expect(await test.archive.list({ session })).toEqual([]);
    expect(await journal.list({ session })).toHaveLength(1);
  });

  it("makes no new archive where one of this journal was before", async () => {
    await journal.archive(await test.archive.id());
    const keeper = keeping({ exists: () => false });
    await expect(keeper.identify()).rejects.toMatchObject({ code: "archive_foreign" });
    await keeper.close();
  });

  it("wakes a sleeping archive only for what has waited a while, and moves all that waits then", async () => {
    const session = newSession();
    await write(session, entriesOf(session, 2));
    let now = 0;
    const keeper = keeping({ asleep: () => true, now: () => now, wakeAfterMs: 10_000 });
    await eventually(() => keeper.holds());
    now = 9_999;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await journal.list({ session })).toHaveLength(2);
    now = 30_000;
    await eventually(async () => (await journal.list({ session })).length === 0);
    await write(session, entriesOf(session, 3).slice(2));
    await keeper.close();
    expect(await journal.list({ session })).toHaveLength(1);
  });

  it("moves what is left when it ends, and gives its right back", async () => {
    const session = newSession();
    const done: string[] = [];
    const keeper = keeping({
      everyMs: 60_000,
      finish: async () => done.push("archive closed"),
      hold: async () => ({ release: async () => done.push("right given back") }),
    });
    await eventually(() => keeper.holds());
    await write(session, entriesOf(session, 2));
    await keeper.close();
    expect(await journal.list({ session })).toEqual([]);
    expect(done).toEqual(["archive closed", "right given back"]);
  });

  it("says when its right cannot even be asked for, and goes on asking", async () => {
    const warned: unknown[] = [];
    const logger = { ...silent, warn: (fields: unknown) => warned.push(fields) };
    let refuses = true;
    const hold = async () => {
      if (refuses) throw Object.assign(new Error("no socket"), { code: "EACCES" });
      return { release: async () => undefined };
    };
    const keeper = keeping({ logger, hold });
    await eventually(() => warned.length > 0);
    expect(warned).toEqual([{ code: "EACCES" }]);
    refuses = false;
    await eventually(() => keeper.holds());
    await keeper.close();
  });

  it("stops when somebody else was given its right", async () => {
    const lost = new AbortController();
    let held = 0;
    const keeper = keeping({
      hold: async () => (held++ === 0 ? { lost: lost.signal, release: async () => undefined } : undefined),
    });
    await eventually(() => keeper.holds());
    lost.abort();
    await eventually(() => !keeper.holds());
    const session = newSession();
    await write(session, entriesOf(session, 1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await journal.list({ session })).toHaveLength(1);
    await keeper.close();
    expect(await journal.list({ session })).toHaveLength(1);
  });
});
