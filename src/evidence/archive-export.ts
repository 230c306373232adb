import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import { DaleError } from "../errors/index.js";
import { dataKeysOf, type EntryRow } from "./archive-list.js";
import { blockOf, readHead, type SignedBlock } from "./block-writer.js";
import type { ExportBlock, ExportChain, ExportEntry, ExportHeader, ExportLine } from "./export-line.js";
import type { InstallationKeys } from "./installation-keys.js";
import type { EvidenceTables } from "./schema.js";
import { entryKey, open } from "./seal.js";

/** What is exported: everything, or what there is of one session or of one proposal. */
export interface ExportScope {
  readonly session?: string;
  readonly proposal?: string;
}

export interface ExportSource {
  readonly db: Kysely<EvidenceTables>;
  readonly keys: InstallationKeys;
  readonly installation: string;
  /** Ms since 1970. */
  readonly now: () => number;
}

const pageSize = 500;

/** A part of a chain, from one entry to another. */
interface Stretch {
  readonly chain: string;
  readonly from: number;
  readonly to: number;
  readonly blocks: readonly number[];
}

/**
 * The export, line by line, as it was when it was begun: what is archived meanwhile is left out.
 * @throws DaleError `archive_unavailable` when entries were removed or erased meanwhile: begin again
 */
export async function* exportLines(source: ExportSource, scope: ExportScope): AsyncGenerator<string> {
  const { db, keys, installation, now } = source;
  const digest = createHash("sha256");
  let lines = 0;
  const line = (value: ExportLine): string => {
    const text = `${JSON.stringify(value)}\n`;
    digest.update(text);
    lines += 1;
    return text;
  };
  const head = await readHead(db);
  const upTo = head?.number ?? 0;
  yield line(headerOf(scope, head, keys, installation, now()));

  const all = scope.session === undefined && scope.proposal === undefined;
  const stretches = all ? undefined : await stretchesOf(source, scope, upTo);
  const wanted = stretches && [...new Set(stretches.flatMap(({ blocks }) => blocks))].sort((one, other) => one - other);
  for await (const block of blocks(db, upTo, wanted)) yield line(blockLine(block));
  for await (const some of stretches ? stretches.map((each) => [each]) : chains(db, upTo)) {
    const dataKeys = await dataKeysOf(
      db,
      some.map(({ chain }) => chain),
      keys,
    );
    for await (const { stretch, page } of entries(db, some)) {
      const { chain, from, to } = stretch;
      if (page[0]?.seq === from) yield line({ kind: "chain", chain, from, to } satisfies ExportChain);
      for (const row of page) yield line(entryLine(row, dataKeys.get(chain), scope.proposal));
    }
  }
  await nothingRemoved(db, upTo);
  const sum = digest.digest();
  yield `${JSON.stringify({
    kind: "end",
    lines,
    digest: sum.toString("hex"),
    signature: Buffer.from(keys.sign(sum)).toString("base64"),
  } satisfies ExportLine)}\n`;
}

function headerOf(
  scope: ExportScope,
  head: SignedBlock | undefined,
  keys: InstallationKeys,
  installation: string,
  at: number,
): ExportHeader {
  return {
    kind: "evidence",
    version: 1,
    installation,
    public_key: keys.publicKey,
    scope: scope.proposal !== undefined ? "proposal" : scope.session !== undefined ? "session" : "all",
    ...(scope.proposal === undefined ? {} : { proposal: scope.proposal }),
    head: head ? { number: head.number, hash: head.hash } : null,
    exported_at: new Date(at).toISOString(),
  };
}

/** @param wanted numbers, ascending; all where absent */
async function* blocks(
  db: Kysely<EvidenceTables>,
  upTo: number,
  wanted: readonly number[] | undefined,
): AsyncGenerator<SignedBlock> {
  let after = 0;
  for (let page = 0; ; page++) {
    const numbers = wanted?.slice(page * pageSize, (page + 1) * pageSize);
    if (numbers?.length === 0) return;
    let select = db
      .selectFrom("evidence_blocks")
      .selectAll()
      .where("number", "<=", upTo)
      .orderBy("number")
      .limit(pageSize);
    select = numbers ? select.where("number", "in", numbers) : select.where("number", ">", after);
    const rows = await select.execute();
    for (const row of rows) yield blockOf(row);
    if (!wanted && rows.length < pageSize) return;
    after = rows.at(-1)?.number ?? after;
  }
}

/** Every chain, whole, as far as it went then; so many at once that their entries make a page. */
async function* chains(db: Kysely<EvidenceTables>, upTo: number): AsyncGenerator<readonly Stretch[]> {
  for (let after = ""; ; ) {
    const rows = await db
      .selectFrom("evidence_entries")
      .select((row) => ["chain", row.fn.min("seq").as("from"), row.fn.max("seq").as("to")])
      .where("chain", ">", after)
      .where("block", "<=", upTo)
      .groupBy("chain")
      .orderBy("chain")
      .limit(pageSize)
      .execute();
    let some: Stretch[] = [];
    let size = 0;
    for (const row of rows) {
      const stretch = { chain: row.chain, from: Number(row.from), to: Number(row.to), blocks: [] };
      const length = stretch.to - stretch.from + 1;
      if (size + length > pageSize && some.length > 0) {
        yield some;
        some = [];
        size = 0;
      }
      some.push(stretch);
      size += length;
    }
    if (some.length > 0) yield some;
    if (rows.length < pageSize) return;
    after = rows.at(-1)?.chain ?? after;
  }
}

/** The chain of a session, or the part of a chain in which a proposal's entries lie, up to the next signed head. */
async function stretchesOf(source: ExportSource, scope: ExportScope, upTo: number): Promise<readonly Stretch[]> {
  const { db, keys } = source;
  let select = db
    .selectFrom("evidence_entries as entries")
    .innerJoin("evidence_chains as chains", "chains.chain", "entries.chain")
    .select((row) => [
      "entries.chain",
      "chains.erased_block",
      "chains.pruned_block",
      row.fn.min("entries.seq").as("from"),
      row.fn.max("entries.block").as("block"),
    ])
    .where("entries.block", "<=", upTo)
    .groupBy(["entries.chain", "chains.erased_block", "chains.pruned_block"])
    .orderBy("entries.chain");
  if (scope.session !== undefined) select = select.where("chains.lookup", "=", keys.lookup(scope.session));
  if (scope.proposal !== undefined) select = select.where("entries.proposal", "=", scope.proposal);
  const found = await select.execute();
  return await Promise.all(
    found.map(async ({ chain, from, block, erased_block: erased, pruned_block: pruned }): Promise<Stretch> => {
      const covered = await db
        .selectFrom("evidence_entries")
        .select(["block", (row) => row.fn.max("seq").as("to")])
        .where("chain", "=", chain)
        .where("seq", ">=", Number(from))
        .where("block", "<=", Number(block))
        .groupBy("block")
        .execute();
      const stated = [...covered.map((each) => each.block), erased, pruned].flatMap((each) => each ?? []);
      return {
        chain,
        from: Number(from),
        to: Math.max(...covered.map(({ to }) => Number(to))),
        blocks: stated.filter((number) => number <= upTo),
      };
    }),
  );
}

/** The entries of stretches, page by page; several stretches are no longer than a page together. */
async function* entries(
  db: Kysely<EvidenceTables>,
  stretches: readonly Stretch[],
): AsyncGenerator<{ readonly stretch: Stretch; readonly page: readonly EntryRow[] }> {
  const [stretch] = stretches;
  if (!stretch) return;
  const select = db.selectFrom("evidence_entries").selectAll().orderBy("chain").orderBy("seq");
  if (stretches.length > 1) {
    const rows = await select
      .where(
        "chain",
        "in",
        stretches.map(({ chain }) => chain),
      )
      .execute();
    for (const each of stretches) {
      yield { stretch: each, page: rows.filter(({ chain, seq }) => chain === each.chain && seq <= each.to) };
    }
    return;
  }
  const { chain, from, to } = stretch;
  for (let next = from; next <= to; ) {
    const page = await select
      .where("chain", "=", chain)
      .where("seq", ">=", next)
      .where("seq", "<=", to)
      .limit(pageSize)
      .execute();
    if (page.length === 0) return;
    yield { stretch, page };
    next = (page.at(-1)?.seq ?? to) + 1;
  }
}

function blockLine(block: SignedBlock): ExportBlock {
  const { number, at, prev, statements, hash, signature } = block;
  return { kind: "block", number, at: new Date(at).toISOString(), prev, statements: [...statements], hash, signature };
}

/** @param proposal the only one whose entries may be read, if any */
function entryLine(row: EntryRow, dataKey: Uint8Array | undefined, proposal: string | undefined): ExportEntry {
  const { chain, seq, id, type, agent, tool, sealed } = row;
  const shown = sealed !== null && (proposal === undefined || row.proposal === proposal);
  const key = shown && dataKey ? entryKey(dataKey, id) : undefined;
  const told = key && sealed ? open(sealed, key, id) : undefined;
  return {
    kind: "entry",
    chain,
    seq,
    prev: hex(row.prev),
    id,
    at: new Date(Number(row.at)).toISOString(),
    type,
    proposal: row.proposal,
    agent,
    tool,
    digest: hex(row.digest),
    hash: hex(row.hash),
    ...(shown ? { sealed: Buffer.from(sealed).toString("base64") } : {}),
    ...(key && told ? { key: Buffer.from(key).toString("base64"), told } : {}),
  };
}

async function nothingRemoved(db: Kysely<EvidenceTables>, upTo: number): Promise<void> {
  const later = await db
    .selectFrom("evidence_blocks")
    .select("number")
    .where("number", ">", upTo)
    .where((row) => row.or([row("statements", "like", '%["pruned"%'), row("statements", "like", '%["erased"%')]))
    .limit(1)
    .executeTakeFirst();
  if (later) {
    throw new DaleError("archive_unavailable", "Entries were removed while they were exported: begin again.");
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
