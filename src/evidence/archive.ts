import { randomUUID } from "node:crypto";
import { type Dialect, Kysely } from "kysely";
import { DaleError } from "../errors/index.js";
import { appendEntries, type SessionEntries } from "./archive-append.js";
import { listEntries } from "./archive-list.js";
import { beginChange, signChange } from "./block-writer.js";
import type { Statement } from "./chain.js";
import type { EvidenceReader } from "./entry.js";
import type { InstallationKeys } from "./installation-keys.js";
import { type EvidenceTables, migrate } from "./schema.js";
import { reachingArchive } from "./sql-error.js";

export interface ArchiveOptions {
  /** Of PGlite or of PostgreSQL: the SQL is the same. */
  readonly dialect: Dialect;
  readonly keys: InstallationKeys;
  /** Ms since 1970. */
  readonly now: () => number;
}

/**
 * Where evidence is kept, in SQL. Opened at the first use. Methods throw DaleError `archive_unavailable`,
 * `archive_foreign` when the installation's key is not the one that the archive was made with, `evidence_refused`.
 */
export interface EvidenceArchive extends EvidenceReader {
  /** Which archive it is: an id that it got when it was made. */
  id(): Promise<string>;
  /** Appends what it does not have yet, all or nothing, and signs the new heads. */
  append(batches: readonly SessionEntries[]): Promise<void>;
  close(): Promise<void>;
}

export function createArchive(options: ArchiveOptions): EvidenceArchive {
  const { keys, now } = options;
  const db = new Kysely<EvidenceTables>({ dialect: options.dialect });
  let opening: Promise<string> | undefined;

  async function open(): Promise<string> {
    await migrate(db);
    const made = { one: 1, id: randomUUID(), public_key: keys.publicKey, created_at: now() };
    await db
      .insertInto("evidence_archive")
      .values(made)
      .onConflict((conflict) => conflict.column("one").doNothing())
      .execute();
    const archive = await db.selectFrom("evidence_archive").select(["id", "public_key"]).executeTakeFirstOrThrow();
    if (archive.public_key !== keys.publicKey) {
      throw new DaleError("archive_foreign", "The archive was made with another key than this installation's.");
    }
    return archive.id;
  }

  async function id(): Promise<string> {
    opening ??= reachingArchive("opening", open);
    try {
      return await opening;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  }

  /** One change of the archive, signed. */
  async function change(
    what: string,
    work: (begun: Awaited<ReturnType<typeof beginChange>>) => Promise<readonly Statement[]>,
  ) {
    await id();
    return await reachingArchive(what, () =>
      db.transaction().execute(async (tx) => {
        const begun = await beginChange(tx, now());
        const statements = await work(begun);
        if (statements.length > 0) await signChange(begun, statements, keys);
        return statements;
      }),
    );
  }

  return {
    id,
    async append(batches) {
      await change("appending entries", (begun) => appendEntries(begun, batches, keys));
    },
    async list(query) {
      await id();
      return await reachingArchive("reading entries", () => listEntries(db, query, keys));
    },
    close: () => db.destroy(),
  };
}
