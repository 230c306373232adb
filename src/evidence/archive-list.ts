import type { Kysely, Selectable } from "kysely";
import { asideTypes, type EvidenceDetail, type EvidenceEntry, type EvidenceQuery } from "./entry.js";
import type { InstallationKeys } from "./installation-keys.js";
import type { EvidenceTables } from "./schema.js";
import { entryKey, open, type SealedPart } from "./seal.js";
import { usualLimit } from "./select.js";

export type EntryRow = Selectable<EvidenceTables["evidence_entries"]>;
/** By chain. Undefined for one that cannot be unwrapped; what was erased is not there. */
export type DataKeys = ReadonlyMap<string, Uint8Array | undefined>;

/** The newest entries that fit, oldest first. What was erased is listed without what it told of a person. */
export async function listEntries(
  db: Kysely<EvidenceTables>,
  query: EvidenceQuery,
  keys: InstallationKeys,
): Promise<readonly EvidenceEntry[]> {
  const limit = query.limit ?? usualLimit;
  if (limit <= 0) return [];
  let select = db
    .selectFrom("evidence_entries")
    .select(["id", "chain", "at", "type", "proposal", "agent", "tool", "sealed"])
    .limit(limit);
  if (query.all !== true) select = select.where("type", "not in", asideTypes);
  if (query.session !== undefined) {
    const chain = await db
      .selectFrom("evidence_chains")
      .select("chain")
      .where("lookup", "=", keys.lookup(query.session))
      .executeTakeFirst();
    if (!chain) return [];
    select = select.where("chain", "=", chain.chain);
  }
  if (query.proposal !== undefined) select = select.where("proposal", "=", query.proposal);
  if (query.session !== undefined) select = select.orderBy("seq", "desc");
  else if (query.proposal !== undefined) select = select.orderBy("block", "desc").orderBy("seq", "desc");
  else select = select.orderBy("at", "desc").orderBy("seq", "desc");
  const rows = (await select.execute()).reverse();
  const dataKeys = await dataKeysOf(
    db,
    rows.map(({ chain }) => chain),
    keys,
  );
  return rows.map((row) => entryOf(row, dataKeys));
}

/** The data keys of chains that were not erased. */
export async function dataKeysOf(
  db: Kysely<EvidenceTables>,
  chains: readonly string[],
  keys: InstallationKeys,
): Promise<DataKeys> {
  if (chains.length === 0) return new Map();
  const found = await db
    .selectFrom("evidence_chains")
    .select(["chain", "wrapped_key"])
    .where("chain", "in", [...new Set(chains)])
    .execute();
  return new Map(
    found.flatMap(({ chain, wrapped_key: wrapped }) => (wrapped ? [[chain, keys.unwrap(chain, wrapped)]] : [])),
  );
}

type ToldRow = Pick<EntryRow, "id" | "chain" | "at" | "type" | "proposal" | "agent" | "tool" | "sealed">;

function entryOf(row: ToldRow, dataKeys: DataKeys): EvidenceEntry {
  const { id, type, proposal, agent, tool } = row;
  return { id, at: Number(row.at), type, proposal, agent, tool, ...toldOf(row, dataKeys) };
}

function toldOf(row: ToldRow, dataKeys: DataKeys): SealedPart {
  const withheld = (why: EvidenceDetail): SealedPart => ({ session: "", argsHash: "", detail: why });
  if (!row.sealed || !dataKeys.has(row.chain)) return withheld({ erased: true });
  const dataKey = dataKeys.get(row.chain);
  const part = dataKey ? open(row.sealed, entryKey(dataKey, row.id), row.id) : undefined;
  return part ?? withheld({ unreadable: true });
}
