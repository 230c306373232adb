import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyExport } from "../../../src/evidence/index.js";
import { evidenceEntry } from "../../fixtures/evidence.js";
import { openTestArchive, type TestArchive } from "../../fixtures/evidence-archive.js";

describe("what the archive keeps of people", () => {
  let test: TestArchive;
  beforeAll(async () => {
    test = await openTestArchive();
    await test.archive.id();
  }, 120_000);
  afterAll(() => test?.close());

  let tests = 0;
  const story = (at = 1_000) => {
    const n = ++tests;
    const session = `whatsapp:shop:54911${n}:54911${n}`;
    const entries = ["proposed", "granted", "executed"].map((type, step) =>
      evidenceEntry(`${n}-${step}`, {
        session,
        proposal: `p-${n}`,
        type,
        at: at + step,
        detail: { words: `palabras-secretas-${n}` },
      }),
    );
    return { session, proposal: `p-${n}`, entries };
  };
  const verification = async () => {
    const lines: string[] = [];
    for await (const line of test.archive.export({})) lines.push(line.trimEnd());
    return await verifyExport(lines, test.keys.publicKey);
  };

  it("is not in its files: no name, no word, no hash of arguments", async () => {
    const { session, entries } = story();
    await test.archive.append([{ session, entries }]);
    await test.sql("checkpoint");
    const found = await filesWith(test.folder, [session, "54911", "palabras", "f".repeat(64), '"cuotas"', "t-1"]);
    expect(found).toEqual([]);
    expect(await filesWith(test.folder, ["praxis_crear_record"])).not.toEqual([]);
  });

  it("is gone after an erasure, while the chain stays checkable and other people's stays as it was", async () => {
    const [gone, stays] = [story(), story()];
    await test.archive.append([gone, stays]);
    expect(await test.archive.erase(gone.session)).toBe(true);
    expect(await test.archive.list({ session: gone.session })).toEqual([]);
    expect(await test.archive.list({ session: stays.session })).toEqual(stays.entries);
    const left = await test.archive.list({ proposal: gone.proposal });
    expect(left).toEqual(
      gone.entries.map(({ id, at, type, proposal, agent, tool }) => ({
        id,
        at,
        type,
        proposal,
        agent,
        tool,
        session: "",
        argsHash: "",
        detail: { erased: true },
      })),
    );
    expect(await verification()).toMatchObject({ ok: true, erased: 3 });
    expect(await test.archive.erase(gone.session)).toBe(false);
    expect(await test.archive.erase("telegram:bot:0:0")).toBe(false);
  });

  it("begins anew with what the person does later", async () => {
    const { session, proposal, entries } = story();
    await test.archive.append([{ session, entries: entries.slice(0, 2) }]);
    await test.archive.erase(session);
    await test.archive.append([{ session, entries: entries.slice(2) }]);
    expect(await test.archive.list({ session })).toEqual(entries.slice(2));
    expect((await test.archive.list({ proposal })).map(({ session: whose }) => whose)).toEqual(["", "", session]);
    expect(await verification()).toMatchObject({ ok: true });
    await test.archive.append([{ session, entries }]);
    expect(await test.archive.list({ session })).toEqual(entries.slice(2));
  });

  it("cannot be erased behind the installation's back", async () => {
    const { session, entries } = story();
    await test.archive.append([{ session, entries }]);
    const before = await verification();
    expect(before.ok).toBe(true);
    await test.sql(`create table kept as select * from evidence_entries where id = '${entries[1]?.id}'`);
    await test.sql(`update evidence_entries set sealed = null where id = '${entries[1]?.id}'`);
    expect((await verification()).findings.map(({ code }) => code)).toEqual(["content_missing"]);
    await test.sql("update evidence_entries set sealed = kept.sealed from kept where evidence_entries.id = kept.id");
    await test.sql("update evidence_chains set wrapped_key = null where lookup is not null");
    expect((await verification()).findings.map(({ code }) => code)).toContain("content_unreadable");
  });
});

describe("retention", () => {
  let test: TestArchive;
  beforeAll(async () => {
    test = await openTestArchive();
    await test.archive.id();
  }, 120_000);
  afterAll(() => test?.close());

  it("removes what is older, from the beginning of each chain, and the chain stays checkable", async () => {
    const at = (session: string, times: readonly number[]) => ({
      session,
      entries: times.map((time, n) => evidenceEntry(`${session}/${n}`, { session, proposal: "", at: time })),
    });
    const over = at("telegram:bot:1:1", [10, 20, 30]);
    const half = at("telegram:bot:2:2", [10, 60, 20, 70]);
    const fresh = at("telegram:bot:3:3", [60, 10]);
    await test.archive.append([over, half, fresh]);
    while (await test.archive.prune(50));
    const times = async (session: string) => (await test.archive.list({ session })).map((entry) => entry.at);
    expect(await times(over.session)).toEqual([]);
    expect(await times(half.session)).toEqual([60, 20, 70]);
    expect(await times(fresh.session)).toEqual([60, 10]);
    expect(await test.sql("select chain from evidence_chains")).toHaveLength(2);

    const lines: string[] = [];
    for await (const line of test.archive.export({})) lines.push(line.trimEnd());
    expect(await verifyExport(lines, test.keys.publicKey)).toMatchObject({ ok: true, chains: 2, entries: 5 });
    const one: string[] = [];
    for await (const line of test.archive.export({ session: half.session })) one.push(line.trimEnd());
    expect(await verifyExport(one, test.keys.publicKey)).toMatchObject({ ok: true, chains: 1, entries: 3 });

    await test.archive.append([at(over.session, [10, 20, 30, 80])]);
    expect(await times(over.session)).toEqual([10, 20, 30, 80]);
    while (await test.archive.prune(50));
    expect(await times(over.session)).toEqual([80]);
    await test.sql("delete from evidence_entries where at = 60 and seq = 2");
    const cut: string[] = [];
    for await (const line of test.archive.export({})) cut.push(line.trimEnd());
    expect((await verifyExport(cut, test.keys.publicKey)).findings.map(({ code }) => code)).toEqual([
      "beginning_missing",
    ]);
  });

  it("stops an export that it takes entries from", async () => {
    const session = "telegram:bot:9:9";
    const entries = [10, 90].map((time, n) => evidenceEntry(`late/${n}`, { session, proposal: "", at: time }));
    await test.archive.append([{ session, entries }]);
    const reading = test.archive.export({})[Symbol.asyncIterator]();
    await reading.next();
    await test.archive.prune(50);
    const rest = async () => {
      while (!(await reading.next()).done);
    };
    await expect(rest()).rejects.toMatchObject({ code: "archive_unavailable", retryable: true });
  });
});

/** Names of files that hold one of the texts. */
async function filesWith(folder: string, texts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const bytes = await readFile(join(file.parentPath, file.name));
    for (const text of texts) if (bytes.includes(text)) found.push(`${file.name}: ${text}`);
  }
  return found;
}
