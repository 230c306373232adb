import { sql } from "kysely";
import type { ArchiveChange } from "./block-writer.js";
import type { Statement } from "./chain.js";
import type { InstallationKeys } from "./installation-keys.js";

/** Entries that one change removes at most: others wait meanwhile. */
const mostAtOnce = 5_000;
const chainsAtOnce = 100;

/**
 * Removes what the entries of a session tell of a person, and the key that it was sealed with. What is left is checkable,
 * and says of nobody that it was theirs. A later entry of the session begins a new chain.
 * @returns what the block has to state: nothing where nothing of the session is archived
 */
export async function eraseSession(
  { tx, block }: ArchiveChange,
  session: string,
  keys: InstallationKeys,
): Promise<readonly Statement[]> {
  const found = await tx
    .selectFrom("evidence_chains")
    .select(["chain", "entries", "head"])
    .where("lookup", "=", keys.lookup(session))
    .executeTakeFirst();
  if (!found) return [];
  const { chain, entries: seq } = found;
  await tx.updateTable("evidence_entries").set({ sealed: null }).where("chain", "=", chain).execute();
  await tx
    .updateTable("evidence_chains")
    .set({ lookup: null, wrapped_key: null, erased_block: block })
    .where("chain", "=", chain)
    .execute();
  return [{ kind: "erased", chain, seq, hash: hex(found.head) }];
}

/**
 * Removes entries from the beginning of chains, as far as they are older than `before` (ms since 1970). A chain of which
 * nothing is left is gone, with its key; the block remembers where it ended.
 */
export async function pruneEntries(change: ArchiveChange, before: number): Promise<readonly Statement[]> {
  const { tx, block } = change;
  const due = await tx
    .selectFrom("evidence_chains as chains")
    .innerJoin("evidence_entries as first", (join) =>
      join.onRef("first.chain", "=", "chains.chain").on(sql.ref("first.seq"), "=", sql`chains.pruned + 1`),
    )
    .select(["chains.chain", "chains.entries"])
    .where("first.at", "<", before)
    .limit(chainsAtOnce)
    .execute();
  const statements: Statement[] = [];
  let removed = 0;
  for (const { chain, entries } of due) {
    if (removed >= mostAtOnce) break;
    const kept = await tx
      .selectFrom("evidence_entries")
      .select((row) => row.fn.min("seq").as("seq"))
      .where("chain", "=", chain)
      .where("at", ">=", before)
      .executeTakeFirst();
    const seq = kept?.seq == null ? entries : Number(kept.seq) - 1;
    const last = await tx
      .selectFrom("evidence_entries")
      .select("hash")
      .where("chain", "=", chain)
      .where("seq", "=", seq)
      .executeTakeFirstOrThrow();
    const { numDeletedRows } = await tx
      .deleteFrom("evidence_entries")
      .where("chain", "=", chain)
      .where("seq", "<=", seq)
      .executeTakeFirst();
    removed += Number(numDeletedRows);
    if (seq === entries) await tx.deleteFrom("evidence_chains").where("chain", "=", chain).execute();
    else {
      await tx
        .updateTable("evidence_chains")
        .set({ pruned: seq, pruned_block: block })
        .where("chain", "=", chain)
        .execute();
    }
    statements.push({ kind: "pruned", chain, seq, hash: hex(last.hash) });
  }
  return statements;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
