/**
 * What happened, for somebody who does not trust us: a journal where it is written, and an archive in SQL where every
 * entry is sealed, chained to the one before it and signed. It records and reads; it never decides anything.
 *
 * entry.ts    an entry, and how entries are asked for; journal.ts where they wait, select.ts which are wanted
 * chain.ts    hashes, blocks, signatures: what verification rests on; seal.ts what is kept of people, encrypted
 * archive.ts  the archive itself, in PGlite (pglite-dialect.ts, a process of its own) or PostgreSQL
 * verify.ts   checks an export (archive-export.ts) with the public key alone; report.ts makes a page of it for people
 * keeper.ts   moves from the journal to the archive (mover.ts), reader.ts reads both as one list
 */
export { type ArchiveOptions, createArchive, type EvidenceArchive } from "./archive.js";
export type { SessionEntries } from "./archive-append.js";
export type { ExportScope } from "./archive-export.js";
export type { SignedBlock } from "./block-writer.js";
export type { EvidenceDetail, EvidenceEntry, EvidenceQuery, EvidenceReader } from "./entry.js";
export { exportCsv } from "./export-csv.js";
export { type ExportLine, exportLine } from "./export-line.js";
export { createInstallationKeys, type InstallationKeys, secretBytes } from "./installation-keys.js";
export type { Backlog, EvidenceJournal, WaitingEntry } from "./journal.js";
export { createKeeper, type EvidenceKeeper, type Holding, type KeeperOptions } from "./keeper.js";
export { createMover, type EvidenceLogger, type EvidenceMover, type MoverOptions } from "./mover.js";
export { createPgliteDialect, type PgliteDialect, type PgliteOptions } from "./pglite-dialect.js";
export { createPostgresDialect, postgresVersion } from "./postgres-dialect.js";
export { createFullReader, type EvidenceReading, type FullReader } from "./reader.js";
export { reportHtml } from "./report.js";
export type { ReportLanguage } from "./report-wording.js";
export { fitsQuery, selectEvidence, usualLimit } from "./select.js";
export { isPublicKey, type KnownHead, type Verification, verifyExport } from "./verify.js";
export type { Finding, FindingCode } from "./verify-chains.js";
