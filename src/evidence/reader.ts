import type { EvidenceEntry, EvidenceQuery, EvidenceReader } from "./entry.js";
import type { EvidenceJournal } from "./journal.js";
import { selectEvidence } from "./select.js";

export interface EvidenceReading {
  readonly entries: readonly EvidenceEntry[];
  /** False when the archive could not be asked: then only what it does not have yet is listed. */
  readonly complete: boolean;
}

export interface FullReader extends EvidenceReader {
  read(query: EvidenceQuery): Promise<EvidenceReading>;
}

export interface FullReaderOptions {
  readonly journal: Pick<EvidenceJournal, "list" | "archive">;
  /** The archive, wherever it is. */
  readonly archive: EvidenceReader;
  /** How long the archive is waited for, ms. Default 10 000: it may have to be opened. */
  readonly patienceMs?: number;
}

/** Journal and archive as one list. */
export function createFullReader(options: FullReaderOptions): FullReader {
  const { journal, archive, patienceMs = 10_000 } = options;

  /**
   * The journal first: what is archived meanwhile is found in both, never in neither. As long as nothing was ever archived
   * the archive is not asked: it may be seconds from being there.
   */
  async function read(query: EvidenceQuery): Promise<EvidenceReading> {
    const waiting = await journal.list(query);
    if ((await journal.archive()) === undefined) return { entries: waiting, complete: true };
    const archived = await inTime(archive.list(query), patienceMs);
    if (!archived) return { entries: waiting, complete: false };
    return { entries: selectEvidence([...archived, ...waiting], query), complete: true };
  }

  return { read, list: async (query) => (await read(query)).entries };
}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([work.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
