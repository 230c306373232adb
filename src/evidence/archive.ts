import { randomUUID } from "node:crypto";
import { type Dialect, Kysely, sql } from "kysely";
import { DaleError } from "../errors/index.js";
import { appendEntries, type SessionEntries } from "./archive-append.js";
import { type ExportScope, exportLines } from "./archive-export.js";
import { listEntries } from "./archive-list.js";
import { eraseSession, pruneEntries } from "./archive-upkeep.js";
import { beginChange, readHead, type SignedBlock, signChange } from "./block-writer.js";
import type { Statement } from "./chain.js";
import type { EvidenceReader } from "./entry.js";
import type { InstallationKeys } from "./installation-keys.js";
import { type EvidenceTables, migrate } from "./schema.js";
import { reachingArchive, reachingArchiveEach } from "./sql-error.js";

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
  /** Removes what the archive tells of the person of a session, for good. @returns whether it had anything of theirs */
  erase(session: string): Promise<boolean>;
  /** Removes entries older than `before` (ms since 1970), some at a time. @returns whether there may be more */
  prune(before: number): Promise<boolean>;
  /** See `exportLines`. */
  export(scope: ExportScope): AsyncIterable<string>;
  /** The last block: the signed state of the whole archive. */
  head(): Promise<SignedBlock | undefined>;
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

  /** What a dropped key was must not lie in a table's file; PGlite does not tidy up by itself. As far as it goes. */
  async function tidy(): Promise<void> {
    for (const statement of ["vacuum full evidence_chains", "vacuum evidence_entries"]) {
      await sql
        .raw(statement)
        .execute(db)
        .catch(() => undefined);
    }
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
    async erase(session) {
      const stated = await change("erasing a session", (begun) => eraseSession(begun, session, keys));
      if (stated.length > 0) await tidy();
      return stated.length > 0;
    },
    async prune(before) {
      const stated = await change("removing old entries", (begun) => pruneEntries(begun, before));
      if (stated.length > 0) await tidy();
      return stated.length > 0;
    },
    async *export(scope) {
      const installation = await id();
      yield* reachingArchiveEach("exporting", exportLines({ db, keys, installation, now }, scope));
    },
    async head() {
      await id();
      return await reachingArchive("reading the head", () => readHead(db));
    },
    close: () => db.destroy(),
  };
}
