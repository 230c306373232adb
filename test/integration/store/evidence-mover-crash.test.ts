import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import {
  createArchive,
  createInstallationKeys,
  createPgliteDialect,
  createPostgresDialect,
  type EvidenceArchive,
} from "../../../src/evidence/index.js";
import { appendEvidenceLua, evidenceAppend } from "../../../src/store/evidence-append.js";
import { createEvidenceJournal } from "../../../src/store/index.js";
import { createScript } from "../../../src/store/script.js";
import { childProgram, startChild, type TestChild } from "../../fixtures/child-process.js";
import type { EvidenceMoverArgs } from "../../fixtures/children/evidence-mover.js";
import { evidenceEntry } from "../../fixtures/evidence.js";
import { eventually } from "../../fixtures/gateway.js";
import { findPostgres, startPostgres } from "../../fixtures/postgres.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";

const append = createScript(`${appendEvidenceLua}\nappend_evidence(1, 1)\nreturn 1`);

/** Kills the process that moves evidence, again and again, while evidence is written. */
async function survives(
  redis: Redis,
  where: EvidenceMoverArgs["archive"],
  open: (secret: Buffer) => EvidenceArchive,
): Promise<void> {
  const prefix = testPrefix();
  const secret = randomBytes(32);
  const journal = createEvidenceJournal({ redis, prefix });
  const sessions = Array.from({ length: 20 }, (_, n) => `telegram:bot:${n}:${n}`);
  const written = new Map<string, string[]>(sessions.map((session) => [session, []]));
  let stop = false;
  let count = 0;
  const writing = (async () => {
    while (!stop) {
      const session = sessions[count % sessions.length] ?? "";
      const entries = Array.from({ length: 1 + (count % 3) }, (_, n) =>
        evidenceEntry(`e-${count}-${n}`, { session, proposal: `p-${count}`, at: count }),
      );
      const { keys, args } = evidenceAppend(prefix, session, count, entries);
      await append.run(redis, "writing evidence", keys, args);
      written.get(session)?.push(...entries.map(({ id }) => id));
      count += 1;
      await sleep(4);
    }
  })();

  const args: EvidenceMoverArgs = {
    socket: inject("redisSocket"),
    prefix,
    secret: secret.toString("base64"),
    archive: where,
  };
  let child: TestChild | undefined;
  try {
    for (let kills = 0; kills < 4; kills++) {
      child = await startChild("evidence-mover.ts", args);
      await child.message();
      // The first may be killed while it makes the archive, the others while they use it.
      if (kills > 0) await eventually(() => journal.archive(), 60_000);
      await sleep(150 + kills * 130);
      child.kill("SIGKILL");
      await child.exited;
      // A lease is its dead holder's for a while; the next one must not have to wait for that here.
      await redis.del(`${prefix}:evidence-mover:lease`);
    }
    stop = true;
    await writing;
    child = await startChild("evidence-mover.ts", args);
    await eventually(async () => ((await journal.backlog()).sessions === 0 ? true : undefined), 60_000);
  } finally {
    stop = true;
    child?.kill("SIGKILL");
    await child?.exited;
  }

  const archive = await eventually(async () => {
    const opened = open(secret);
    await opened.id();
    return opened;
  });
  try {
    for (const [session, ids] of written) {
      const found = await archive.list({ session, limit: 1_000_000 });
      expect(found.map(({ id }) => id)).toEqual(ids);
    }
    expect(count).toBeGreaterThan(100);
  } finally {
    await archive.close();
  }
}

describe("a mover that is killed again and again", () => {
  let redis: Redis;
  let root: string;
  beforeEach(async () => {
    redis = testRedis();
    root = await mkdtemp(join(tmpdir(), "dale-mover-"));
  });
  afterEach(async () => {
    redis.disconnect();
    await rm(root, { recursive: true, force: true });
  });

  it("moves everything once, in order, into PGlite", async () => {
    const program = await childProgram("pglite.ts");
    await survives(redis, { kind: "pglite", folder: root, program }, (secret) =>
      createArchive({
        dialect: createPgliteDialect({ folder: join(root, "pglite"), program }),
        keys: createInstallationKeys(secret),
        now: Date.now,
      }),
    );
  }, 120_000);

  const found = findPostgres();
  it.skipIf("reason" in found)(
    "reason" in found
      ? `is not tested with PostgreSQL here: ${found.reason}`
      : "moves everything once, in order, into PostgreSQL",
    async () => {
      if ("reason" in found) return;
      const server = await startPostgres(found.programs);
      try {
        const url = await server.database();
        await survives(redis, { kind: "postgres", url }, (secret) =>
          createArchive({ dialect: createPostgresDialect(url), keys: createInstallationKeys(secret), now: Date.now }),
        );
      } finally {
        await server.stop();
      }
    },
    120_000,
  );
});
