import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPgliteDialect, verifyExport } from "../../../src/evidence/index.js";
import { childProgram } from "../../fixtures/child-process.js";
import { evidenceEntry } from "../../fixtures/evidence.js";
import { openTestArchive, type TestArchive } from "../../fixtures/evidence-archive.js";
import { eventually } from "../../fixtures/gateway.js";

describe("the process that holds PGlite", () => {
  let test: TestArchive;
  beforeAll(async () => {
    test = await openTestArchive({ idleMs: 300 });
    await test.archive.id();
  }, 120_000);
  afterAll(() => test?.close());

  const append = (n: number, session = "telegram:bot:1:1") =>
    test.archive.append([{ session, entries: [evidenceEntry(`${session}/${n}`, { session, at: n })] }]);
  const seen = async (session = "telegram:bot:1:1") => (await test.archive.list({ session })).map(({ at }) => at);

  it("ends when nobody needs it, and is there again when somebody does", async () => {
    await append(1);
    const first = test.pid();
    expect(first).toBeGreaterThan(0);
    await eventually(() => test.pid() === undefined);
    expect(await seen()).toEqual([1]);
    expect(test.pid()).not.toBe(first);
  });

  it("may be killed at any time: what was committed is there, what was not is as if it had not been tried", async () => {
    const session = "telegram:bot:2:2";
    const committed: number[] = [];
    for (let n = 0; n < 12; n++) {
      const appending = append(n, session).then(
        () => committed.push(n),
        (error: unknown) => expect(error).toMatchObject({ code: "archive_unavailable", retryable: true }),
      );
      if (n % 3 === 2) {
        const pid = await eventually(() => test.pid());
        process.kill(pid, "SIGKILL");
      }
      await appending;
    }
    const found = await eventually(() => seen(session).catch(() => undefined));
    expect(found).toEqual(expect.arrayContaining(committed));
    expect(found).toEqual([...found].sort((one, other) => one - other));
    const lines: string[] = [];
    for await (const line of test.archive.export({})) lines.push(line.trimEnd());
    expect(await verifyExport(lines, test.keys.publicKey)).toMatchObject({ ok: true });
  });

  it("serves one after the other, and a statement that fails harms nobody", async () => {
    const session = "telegram:bot:3:3";
    const results = await Promise.allSettled([
      append(1, session),
      test.sql("select no_such_function()"),
      append(2, session),
      test.archive.list({ session }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(await seen(session)).toEqual([1, 2]);
  });

  it("is asked nothing after it was closed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "dale-pglite-"));
    const dialect = createPgliteDialect({ folder: join(folder, "none"), program: await childProgram("pglite.ts") });
    const driver = dialect.createDriver();
    await driver.destroy();
    await expect(driver.acquireConnection()).rejects.toThrow();
    expect(dialect.running()).toBe(false);
    await rm(folder, { recursive: true });
  });

  it("says so when it cannot be started", async () => {
    const dialect = createPgliteDialect({ folder: "/nowhere", program: "/no/such/program.mjs" });
    await expect(dialect.createDriver().acquireConnection()).rejects.toMatchObject({ code: "archive_unavailable" });
  });
});
