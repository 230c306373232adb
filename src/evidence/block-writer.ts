import type { Kysely, Selectable, Transaction } from "kysely";
import { z } from "zod";
import { type Block, blockHash, noBlock, type Statement } from "./chain.js";
import type { InstallationKeys } from "./installation-keys.js";
import type { EvidenceTables } from "./schema.js";

export interface SignedBlock extends Block {
  readonly hash: string;
  /** Base64. */
  readonly signature: string;
}

/** One change of the archive: what is written goes into one block, all or nothing, and nobody else writes meanwhile. */
export interface ArchiveChange {
  readonly tx: Transaction<EvidenceTables>;
  readonly installation: string;
  /** Number of the block that this change will be signed with. */
  readonly block: number;
  /** Ms since 1970. */
  readonly at: number;
  /** The block that was the last one until now. */
  readonly prev: string;
}

/** Waits for whoever writes now. */
export async function beginChange(tx: Transaction<EvidenceTables>, at: number): Promise<ArchiveChange> {
  const { id } = await tx.selectFrom("evidence_archive").select("id").forUpdate().executeTakeFirstOrThrow();
  const last = await tx
    .selectFrom("evidence_blocks")
    .select(["number", "hash"])
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return {
    tx,
    installation: id,
    block: (last?.number ?? 0) + 1,
    at,
    prev: last ? Buffer.from(last.hash).toString("hex") : noBlock,
  };
}

export async function signChange(
  change: ArchiveChange,
  statements: readonly Statement[],
  keys: InstallationKeys,
): Promise<void> {
  const { block: number, at, prev } = change;
  const hash = Buffer.from(blockHash(change.installation, { number, at, prev, statements }), "hex");
  await change.tx
    .insertInto("evidence_blocks")
    .values({
      number,
      at,
      prev: Buffer.from(prev, "hex"),
      statements: JSON.stringify(statements.map(({ kind, chain, seq, hash: of }) => [kind, chain, seq, of])),
      hash,
      signature: keys.sign(hash),
    })
    .execute();
}

/** The last one. */
export async function readHead(db: Kysely<EvidenceTables>): Promise<SignedBlock | undefined> {
  const row = await db.selectFrom("evidence_blocks").selectAll().orderBy("number", "desc").limit(1).executeTakeFirst();
  return row && blockOf(row);
}

const statements = z.array(z.tuple([z.enum(["head", "pruned", "erased"]), z.string(), z.number(), z.string()]));

export function blockOf(row: Selectable<EvidenceTables["evidence_blocks"]>): SignedBlock {
  return {
    number: row.number,
    at: Number(row.at),
    prev: Buffer.from(row.prev).toString("hex"),
    statements: statements
      .parse(JSON.parse(row.statements))
      .map(([kind, chain, seq, hash]) => ({ kind, chain, seq, hash })),
    hash: Buffer.from(row.hash).toString("hex"),
    signature: Buffer.from(row.signature).toString("base64"),
  };
}
