import { DaleError } from "../errors/index.js";
import type { EvidenceArchive } from "./archive.js";
import type { SessionEntries } from "./archive-append.js";
import type { EvidenceJournal, WaitingEntry } from "./journal.js";

/** pino fits. Fields hold counts and codes: a session's name holds a phone number. */
export interface EvidenceLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface MoverOptions {
  readonly journal: EvidenceJournal;
  readonly archive: Pick<EvidenceArchive, "append">;
  readonly logger: EvidenceLogger;
  /** Ms since 1970. */
  readonly now: () => number;
  /** How many sessions go into one batch. Default 100. */
  readonly sessionsAtOnce?: number;
  /** How many entries of one session go into one batch. Default 200. */
  readonly entriesAtOnce?: number;
}

export interface EvidenceMover {
  /**
   * Moves what waits, batch by batch, until nothing does: into the archive, and only then out of the journal. A crash
   * anywhere in between moves nothing twice, for the archive takes an id once.
   * @returns how many entries
   */
  pass(signal?: AbortSignal): Promise<number>;
}

/** How long a session is left alone whose next entry cannot be moved, ms. */
const setAsideMs = 5 * 60_000;

interface Batch extends SessionEntries {
  readonly places: readonly string[];
}

export function createMover(options: MoverOptions): EvidenceMover {
  const { journal, archive, logger, now, sessionsAtOnce = 100, entriesAtOnce = 200 } = options;
  /** Until when. */
  const aside = new Map<string, number>();

  function setAside(session: string, code: string): void {
    aside.set(session, now() + setAsideMs);
    logger.error({ code, aside: aside.size }, "evidence of a session cannot be archived; it stays in the journal");
  }

  async function nextSessions(): Promise<readonly string[]> {
    for (const [session, until] of aside) if (until <= now()) aside.delete(session);
    const listed = await journal.sessions(sessionsAtOnce + aside.size);
    return listed.filter((session) => !aside.has(session)).slice(0, sessionsAtOnce);
  }

  /** What can be read of a session, up to the first entry that cannot: the order is part of the evidence. */
  function batchOf(session: string, waiting: readonly WaitingEntry[]): Batch {
    const stop = waiting.findIndex(({ entry }) => entry === undefined);
    const good = stop === -1 ? waiting : waiting.slice(0, stop);
    if (stop !== -1) setAside(session, "store_version");
    return {
      session,
      entries: good.flatMap(({ entry }) => entry ?? []),
      places: good.map(({ place }) => place),
    };
  }

  async function move(batches: readonly Batch[]): Promise<number> {
    await archive.append(batches);
    await Promise.all(batches.map(({ session, places }) => journal.forget(session, places)));
    return batches.reduce((sum, { places }) => sum + places.length, 0);
  }

  /** One entry that is refused holds up its own session, and nobody else's. */
  async function moveApart(batches: readonly Batch[]): Promise<number> {
    try {
      return await move(batches);
    } catch (error) {
      if (!(error instanceof DaleError) || error.code !== "evidence_refused") throw error;
      const [batch] = batches;
      if (batch === undefined) return 0;
      if (batches.length > 1) return await inHalves(batches, (half) => moveApart(half));
      if (batch.entries.length > 1) {
        return await inHalves(batch.entries, (_, from, to) =>
          aside.has(batch.session)
            ? Promise.resolve(0)
            : moveApart([{ ...batch, entries: batch.entries.slice(from, to), places: batch.places.slice(from, to) }]),
        );
      }
      setAside(batch.session, error.code);
      return 0;
    }
  }

  return {
    async pass(signal) {
      let moved = 0;
      while (!signal?.aborted) {
        const sessions = await nextSessions();
        if (sessions.length === 0) break;
        const waiting = await journal.waiting(sessions, entriesAtOnce);
        moved += await moveApart(sessions.map((session, index) => batchOf(session, waiting[index] ?? [])));
      }
      return moved;
    },
  };
}

async function inHalves<T>(
  all: readonly T[],
  each: (half: readonly T[], from: number, to: number) => Promise<number>,
): Promise<number> {
  const middle = Math.ceil(all.length / 2);
  const before = await each(all.slice(0, middle), 0, middle);
  return before + (await each(all.slice(middle), middle, all.length));
}
