import { randomBytes } from "node:crypto";
import { DaleError } from "../errors/index.js";
import type { ArchiveChange } from "./block-writer.js";
import { digestOf, entryHash, genesis, type Statement } from "./chain.js";
import type { EvidenceEntry } from "./entry.js";
import type { InstallationKeys } from "./installation-keys.js";
import { entryKey, newDataKey, seal } from "./seal.js";

/** The end of the year 9999: later times have no ISO 8601 form of four digits. */
const lastMs = 253_402_300_799_999;

/** Entries of one session, in the order in which they were written. */
export interface SessionEntries {
  readonly session: string;
  readonly entries: readonly EvidenceEntry[];
}

/** A chain as it is extended. */
interface GrowingChain {
  readonly chain: string;
  readonly lookup: Uint8Array;
  readonly wrappedKey: Uint8Array;
  readonly dataKey: Uint8Array;
  entries: number;
  head: string;
}

/** Rows of one statement: PostgreSQL takes 65 535 parameters at most. */
const rowsAtOnce = 500;

/**
 * Appends what the archive does not have yet. An id that it has is not written again, so that entries may be offered
 * any number of times.
 * @returns what the block has to state
 */
export async function appendEntries(
  change: ArchiveChange,
  batches: readonly SessionEntries[],
  keys: InstallationKeys,
): Promise<readonly Statement[]> {
  const known = await knownIds(change, batches);
  const fresh = batches.flatMap(({ session, entries }) => {
    const unknown = entries.filter(({ id }) => !known.has(id) && known.add(id));
    return unknown.length === 0 ? [] : [{ session, entries: unknown }];
  });
  if (fresh.length === 0) return [];
  const chains = await chainsOf(
    change,
    fresh.map(({ session }) => session),
    keys,
  );
  const rows = fresh.flatMap(({ session, entries }) => {
    const chain = chains.get(session);
    return chain ? entries.map((entry) => linked(entry, chain, change.block)) : [];
  });
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    await change.tx
      .insertInto("evidence_entries")
      .values(rows.slice(from, from + rowsAtOnce))
      .execute();
  }
  const grown = [...chains.values()];
  await change.tx
    .insertInto("evidence_chains")
    .values(
      grown.map(({ chain, lookup, wrappedKey, entries, head }) => ({
        chain,
        lookup,
        wrapped_key: wrappedKey,
        entries,
        head: Buffer.from(head, "hex"),
        pruned: 0,
      })),
    )
    .onConflict((conflict) =>
      conflict.column("chain").doUpdateSet((row) => ({
        entries: row.ref("excluded.entries"),
        head: row.ref("excluded.head"),
      })),
    )
    .execute();
  return grown.map(({ chain, entries: seq, head: hash }) => ({ kind: "head", chain, seq, hash }));
}

async function knownIds({ tx }: ArchiveChange, batches: readonly SessionEntries[]): Promise<Set<string>> {
  const ids = batches.flatMap(({ entries }) => entries.map(({ id }) => id));
  if (ids.length === 0) return new Set();
  const found = await tx.selectFrom("evidence_entries").select("id").where("id", "in", ids).execute();
  return new Set(found.map(({ id }) => id));
}

async function chainsOf(
  { tx, installation }: ArchiveChange,
  sessions: readonly string[],
  keys: InstallationKeys,
): Promise<ReadonlyMap<string, GrowingChain>> {
  const lookups = new Map([...new Set(sessions)].map((session) => [session, keys.lookup(session)]));
  const found = await tx
    .selectFrom("evidence_chains")
    .select(["chain", "lookup", "wrapped_key", "entries", "head"])
    .where("lookup", "in", [...lookups.values()])
    .execute();
  const byLookup = new Map(found.map((row) => [hex(row.lookup ?? new Uint8Array()), row]));
  return new Map(
    [...lookups].map(([session, lookup]): [string, GrowingChain] => {
      const row = byLookup.get(hex(lookup));
      if (!row) {
        const chain = `ch_${randomBytes(16).toString("base64url")}`;
        const dataKey = newDataKey();
        const head = genesis(installation, chain);
        return [session, { chain, lookup, dataKey, wrappedKey: keys.wrap(chain, dataKey), entries: 0, head }];
      }
      const wrappedKey = row.wrapped_key;
      const dataKey = wrappedKey ? keys.unwrap(row.chain, wrappedKey) : undefined;
      if (!wrappedKey || !dataKey) throw new DaleError("archive_foreign", "A chain's key cannot be unwrapped.");
      return [session, { chain: row.chain, lookup, wrappedKey, dataKey, entries: row.entries, head: hex(row.head) }];
    }),
  );
}

/** The entry's row, and the chain one longer. */
function linked(entry: EvidenceEntry, chain: GrowingChain, block: number) {
  const { id, at, type, proposal, agent, tool } = entry;
  if (!Number.isSafeInteger(at) || at < 0 || at > lastMs) throw new TypeError("An entry's time is no time.");
  const sealed = seal(entry, entryKey(chain.dataKey, id), id);
  const digest = digestOf(sealed);
  const seq = chain.entries + 1;
  const prev = chain.head;
  const hash = entryHash({ chain: chain.chain, seq, prev, id, at, type, proposal, agent, tool, digest });
  chain.entries = seq;
  chain.head = hash;
  return {
    id,
    chain: chain.chain,
    seq,
    at,
    type,
    proposal,
    agent,
    tool,
    sealed,
    digest: Buffer.from(digest, "hex"),
    prev: Buffer.from(prev, "hex"),
    hash: Buffer.from(hash, "hex"),
    block,
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
