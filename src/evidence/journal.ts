import type { EvidenceEntry, EvidenceReader } from "./entry.js";

/** One entry as it waits: `place` names it within its session's journal. Without `entry` it cannot be read. */
export interface WaitingEntry {
  readonly place: string;
  readonly entry?: EvidenceEntry;
}

export interface Backlog {
  /** Sessions with entries that have not been archived. */
  readonly sessions: number;
  /** When the oldest of them began to wait, ms since 1970. */
  readonly since?: number;
}

/**
 * Where evidence is written, together with the change that it tells of, and read from until it is archived. Implemented
 * on Redis in src/store.
 */
export interface EvidenceJournal extends EvidenceReader {
  backlog(): Promise<Backlog>;
  /** Sessions with entries, those that have waited longest first. */
  sessions(limit: number): Promise<readonly string[]>;
  /** The oldest entries of each session, as they were written. */
  waiting(sessions: readonly string[], each: number): Promise<readonly (readonly WaitingEntry[])[]>;
  /** Forgets entries that are archived. A session without any is no longer listed by `sessions`. */
  forget(session: string, places: readonly string[]): Promise<void>;
  /** A sign that somebody moves entries from here, for some days. */
  keep(): Promise<void>;
  /** The archive that entries of this journal go to: the first that is named, for ever. @returns which it is */
  archive(named?: string): Promise<string | undefined>;
}
