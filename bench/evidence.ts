import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Dialect, Kysely, sql } from "kysely";
import {
  createArchive,
  createFullReader,
  createInstallationKeys,
  createMover,
  createPgliteDialect,
  createPostgresDialect,
  type EvidenceEntry,
  type EvidenceJournal,
  verifyExport,
} from "../src/evidence/index.js";
import { appendEvidenceLua, evidenceAppend } from "../src/store/evidence-append.js";
import { createConnections, createEvidenceJournal, startEmbeddedRedis } from "../src/store/index.js";
import { createScript } from "../src/store/script.js";
import { findPostgres, startPostgres } from "../test/fixtures/postgres.js";

/**
 * Evidence: what moving costs, how fast a session or a proposal is found among a million entries (target: 100 ms), what
 * PGlite's process takes of memory, and how fast an export is made and verified. With PostgreSQL too, where it is installed.
 * The million is made by SQL, as entries that nobody can open; what is asked for is moved there like any evidence.
 */
const million = Number(process.env.DALE_BENCH_ENTRIES ?? 1_000_000);
const stories = 500;
const steps = ["proposed", "delivery", "notice_sent", "notice_delivered", "granted", "consumed", "executed"];

const root = mkdtempSync(join(tmpdir(), "dale-bench-"));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const redisServer = await startEmbeddedRedis({ dataDir: root, logger: silent });
const connections = createConnections({ address: { socket: redisServer.socket }, logger: silent });
await connections.ready();
const redis = connections.prompt;
const append = createScript(`${appendEvidenceLua}\nappend_evidence(1, 1)\nreturn 1`);
const bare = createScript("return 1");

const session = (n: number) => `whatsapp_cloud:main:549110000${n}:549110000${n}`;
const proposal = (n: number) => `p-${n}`;

/** What one consent leaves behind, with texts of the usual length. */
function story(n: number, at: number): readonly EvidenceEntry[] {
  return steps.map((type, step) => ({
    id: randomUUID(),
    at: at + step,
    type,
    session: session(n),
    proposal: proposal(n),
    agent: "cobranzas",
    tool: "praxis_crear_record",
    argsHash: randomBytes(32).toString("hex"),
    turn: `t-${n}`,
    detail: {
      notice: "Para confirmar respondé SI. Voy a ejecutar: praxis_crear_record con entidad: cob_acuerdo, cuotas: 3",
      args: '{"cuotas":3,"entidad":"cob_acuerdo","monto":184000}',
      part: `out-t-${n}-1`,
      ref: randomUUID(),
    },
  }));
}

async function write(journal: string, n: number, entries: readonly EvidenceEntry[]): Promise<void> {
  const { keys, args } = evidenceAppend(journal, session(n), Date.now(), entries);
  await append.run(redis, "writing evidence", keys, args);
}

function say(what: string, value: string): void {
  console.log(`${value.padStart(14)}  ${what}`);
}

async function times(what: string, runs: number, work: (n: number) => Promise<unknown>): Promise<void> {
  const taken: number[] = [];
  for (let n = 0; n < runs; n++) {
    const start = performance.now();
    await work(n);
    taken.push(performance.now() - start);
  }
  taken.sort((one, other) => one - other);
  const at = (share: number) => (taken[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0).toFixed(1);
  say(`${what} (median of ${runs}; p99 ${at(0.99)} ms)`, `${at(0.5)} ms`);
}

async function bench(title: string, dialect: Dialect, pid?: () => number | undefined): Promise<void> {
  console.log(`\n${title}`);
  const prefix = `{bench-${randomUUID()}}`;
  const journal: EvidenceJournal = createEvidenceJournal({ redis, prefix });
  const keys = createInstallationKeys(randomBytes(32));
  const archive = createArchive({ dialect, keys, now: Date.now });
  const memory = () => {
    const process = pid?.();
    if (process === undefined) return;
    const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${process}/status`, "utf8")) ?? [];
    say("memory of PGlite's process", `${Math.round(Number(kib) / 1024)} MiB`);
  };
  const opening = performance.now();
  await journal.archive(await archive.id());
  say("to make and open the archive", `${Math.round(performance.now() - opening)} ms`);
  memory();

  const db = new Kysely<never>({ dialect });
  const filling = performance.now();
  for (let done = 0; done < million; done += 50_000) {
    const count = Math.min(50_000, million - done);
    await sql`
      insert into evidence_entries (id, chain, seq, at, type, proposal, agent, tool, sealed, digest, prev, hash, block)
      select 'f-' || n, 'ch_filler' || (n / 50), n % 50 + 1, 1700000000000 + n, 'granted', 'f-' || (n / 7), 'cobranzas',
        'praxis_crear_record', decode(repeat(md5(n::text), 12), 'hex'), decode(repeat(md5(n::text), 2), 'hex'),
        decode(repeat(md5(n::text), 2), 'hex'), decode(repeat(md5(n::text), 2), 'hex'), 0
      from generate_series(${sql.lit(done)}, ${sql.lit(done + count - 1)}) n`.execute(db);
  }
  await sql`analyze evidence_entries`.execute(db);
  say(
    `entries put there by SQL, in ${Math.round((performance.now() - filling) / 1000)} s`,
    million.toLocaleString("en"),
  );

  for (let n = 0; n < stories; n++) await write(prefix, n, story(n, Date.now()));
  const mover = createMover({ journal, archive, logger: silent, now: Date.now });
  const moving = performance.now();
  const moved = await mover.pass();
  say("moved, sealed, chained and signed", `${Math.round(moved / ((performance.now() - moving) / 1000))}/s`);
  await times("one consent, moved by itself", 50, async (n) => {
    await write(prefix, n, story(n, Date.now()));
    await mover.pass();
  });
  for (let n = 0; n < 150; n++) await write(prefix, 0, story(0, Date.now()));
  await mover.pass();

  const reader = createFullReader({ journal, archive });
  await times("a session's evidence", 200, (n) => reader.list({ session: session(n + 100) }));
  await times("a proposal's evidence, with deliveries", 200, (n) =>
    reader.list({ proposal: proposal(n + 100), all: true }),
  );
  await times("a session with 1,000 entries", 20, () => reader.list({ session: session(0), limit: 1_000 }));
  await times("the newest 100 of all", 50, () => reader.list({ limit: 100 }));
  await times("a session that has none", 50, (n) => reader.list({ session: session(n + 100_000) }));
  memory();

  await sql`delete from evidence_entries where block = 0`.execute(db);
  await sql`vacuum analyze evidence_entries`.execute(db);
  const exporting = performance.now();
  const lines: string[] = [];
  for await (const line of archive.export({})) lines.push(line.trimEnd());
  say("exported", `${Math.round(lines.length / ((performance.now() - exporting) / 1000))} lines/s`);
  const verifying = performance.now();
  const { ok } = await verifyExport(lines, keys.publicKey);
  const rate = Math.round(lines.length / ((performance.now() - verifying) / 1000));
  say(`verified${ok ? "" : ", and found BAD"}`, `${rate} lines/s`);
  await archive.close();
}

console.log("In Redis, in the script of the change");
const scratch = `{bench-${randomUUID()}}`;
await times("a script without evidence", 2_000, () => bare.run(redis, "nothing", [scratch], []));
await times("a script with one entry", 2_000, (n) => write(scratch, n, story(n, 0).slice(0, 1)));

const folder = join(root, "evidence");
const pglite = createPgliteDialect({
  folder: join(folder, "pglite"),
  program: join(process.cwd(), "dist/src/evidence/pglite-process.js"),
});
mkdirSync(folder);
await bench("PGlite", pglite, pglite.pid);

const found = findPostgres();
if ("reason" in found) console.log(`\nPostgreSQL: not measured, ${found.reason}`);
else {
  const server = await startPostgres(found.programs);
  await bench("PostgreSQL (fsync off)", createPostgresDialect(await server.database()));
  await server.stop();
}
await connections.close();
await redisServer.stop();
rmSync(root, { recursive: true, force: true });
