import { type Kysely, type Migration, Migrator, sql } from "kysely";

/** The archive's tables, the same in PGlite and PostgreSQL. Times are ms since 1970; drivers may give them as text. */
export interface EvidenceTables {
  /** One row: which archive this is. Whoever writes locks it, so there is one writer at a time. */
  evidence_archive: {
    one: number;
    id: string;
    public_key: string;
    created_at: number | string;
  };
  /** The chain of a session. Without `lookup` and `wrapped_key` nobody knows whose it was. */
  evidence_chains: {
    chain: string;
    lookup: Uint8Array | null;
    wrapped_key: Uint8Array | null;
    /** How many entries it has had: the `seq` of its last one. */
    entries: number;
    /** Hash of the last one. */
    head: Uint8Array;
    /** The `seq` up to which entries were removed, their time being over. */
    pruned: number;
    /** Numbers of the blocks that state the last removal of old entries, and the erasure. */
    pruned_block: number | null;
    erased_block: number | null;
  };
  evidence_entries: {
    id: string;
    chain: string;
    seq: number;
    at: number | string;
    type: string;
    proposal: string;
    agent: string;
    tool: string;
    sealed: Uint8Array | null;
    digest: Uint8Array;
    prev: Uint8Array;
    hash: Uint8Array;
    /** Number of the block that first covers it. */
    block: number;
  };
  evidence_blocks: {
    number: number;
    at: number | string;
    prev: Uint8Array;
    /** JSON. */
    statements: string;
    hash: Uint8Array;
    signature: Uint8Array;
  };
}

const first: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("evidence_archive")
      .addColumn("one", "integer", (column) => column.primaryKey().check(sql`one = 1`))
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("public_key", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("evidence_chains")
      .addColumn("chain", "text", (column) => column.primaryKey())
      .addColumn("lookup", "bytea", (column) => column.unique())
      .addColumn("wrapped_key", "bytea")
      .addColumn("entries", "integer", (column) => column.notNull())
      .addColumn("head", "bytea", (column) => column.notNull())
      .addColumn("pruned", "integer", (column) => column.notNull().defaultTo(0))
      .addColumn("pruned_block", "integer")
      .addColumn("erased_block", "integer")
      .execute();
    await db.schema
      .createTable("evidence_entries")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("chain", "text", (column) => column.notNull())
      .addColumn("seq", "integer", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("type", "text", (column) => column.notNull())
      .addColumn("proposal", "text", (column) => column.notNull())
      .addColumn("agent", "text", (column) => column.notNull())
      .addColumn("tool", "text", (column) => column.notNull())
      .addColumn("sealed", "bytea")
      .addColumn("digest", "bytea", (column) => column.notNull())
      .addColumn("prev", "bytea", (column) => column.notNull())
      .addColumn("hash", "bytea", (column) => column.notNull())
      .addColumn("block", "integer", (column) => column.notNull())
      .addUniqueConstraint("evidence_entries_place", ["chain", "seq"])
      .execute();
    await db.schema
      .createIndex("evidence_entries_proposal")
      .on("evidence_entries")
      .columns(["proposal", "block", "seq"])
      .where(sql.ref("proposal"), "<>", "")
      .execute();
    await db.schema.createIndex("evidence_entries_at").on("evidence_entries").columns(["at", "seq"]).execute();
    await db.schema
      .createTable("evidence_blocks")
      .addColumn("number", "integer", (column) => column.primaryKey())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("prev", "bytea", (column) => column.notNull())
      .addColumn("statements", "text", (column) => column.notNull())
      .addColumn("hash", "bytea", (column) => column.notNull())
      .addColumn("signature", "bytea", (column) => column.notNull())
      .execute();
  },
};

const migrations: Readonly<Record<string, Migration>> = { "0001_evidence": first };

/** Brings the tables to what this build knows; several processes may try at once. */
export async function migrate(db: Kysely<EvidenceTables>): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableName: "evidence_migrations",
    migrationLockTableName: "evidence_migrations_lock",
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}
