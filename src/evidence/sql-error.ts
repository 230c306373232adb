import { DaleError } from "../errors/index.js";

/** What a database said, without its texts: they may quote what was to be written. */
export class SqlError extends Error {
  /** @param code a SQLSTATE, or a code of Node's */
  constructor(readonly code: string) {
    super(`The database answered ${code}.`);
    this.name = "SqlError";
  }
}

/**
 * Does something with the archive. What goes wrong is DaleError `evidence_refused` where it will go wrong again with these
 * entries (the database says so, or they have no canonical form), else `archive_unavailable`.
 */
export async function reachingArchive<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DaleError) throw error;
    const cause = error instanceof TypeError ? error : new SqlError(codeOf(error));
    if (cause instanceof SqlError ? /^2[23]/.test(cause.code) : true) {
      throw new DaleError("evidence_refused", `An entry cannot be archived as it is: ${what}.`, { cause });
    }
    throw new DaleError("archive_unavailable", `The evidence archive could not be reached or refused: ${what}.`, {
      cause,
    });
  }
}

/** The same, for something that comes piece by piece. */
export async function* reachingArchiveEach<T>(what: string, pieces: AsyncGenerator<T>): AsyncGenerator<T> {
  for (;;) {
    const next = await reachingArchive(what, () => pieces.next());
    if (next.done) return;
    yield next.value;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof SqlError) return error.code;
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
}
