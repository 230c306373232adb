import { setTimeout as sleep } from "node:timers/promises";
import { DaleError } from "../errors/index.js";
import type { EvidenceArchive } from "./archive.js";
import type { EvidenceJournal } from "./journal.js";
import { createMover, type EvidenceLogger } from "./mover.js";

/** The right to move entries. Somebody else may have been given it once `lost` is aborted. */
export interface Holding {
  readonly lost?: AbortSignal;
  release(): Promise<unknown>;
}

export interface KeeperOptions {
  readonly journal: EvidenceJournal;
  readonly archive: Pick<EvidenceArchive, "id" | "append" | "prune" | "head">;
  /** Asks for the right to move; undefined while another process has it. */
  readonly hold: () => Promise<Holding | undefined>;
  /** Whether the archive, or a place where it may be made, is at hand: a new one must not take the place of another. */
  readonly exists: () => boolean;
  /** Whether using the archive would start a process first. */
  readonly asleep: () => boolean;
  /** What has to end before the right is given back: nobody else may have the archive while it runs. */
  readonly finish?: () => Promise<unknown>;
  readonly logger: EvidenceLogger;
  readonly now: () => number;
  /** How often the journal is looked at, ms. Default 1000. */
  readonly everyMs?: number;
  /** How long entries wait for others before a sleeping archive is woken for them, ms. Default 10 000. */
  readonly wakeAfterMs?: number;
  /** How long entries are kept, ms. Default for ever. */
  readonly retentionMs?: number | undefined;
}

export interface EvidenceKeeper {
  /** Whether this process has the right to move, and so the archive where only one process may use it. */
  holds(): boolean;
  /** Checks that the archive is the one that this journal goes to. @throws DaleError `archive_foreign` */
  identify(): Promise<void>;
  /** Moves what waits now. @returns how many entries */
  move(): Promise<number>;
  /** Moves what waits, unless the archive sleeps, and gives the right back. */
  close(): Promise<void>;
}

const retryMs = 1_000;
/** Between tries while the archive does not work, ms. */
const longestPauseMs = 60_000;
/** How often old entries are removed, the head is told, and a sign of life given, ms. */
const pruneEveryMs = 6 * 3_600_000;
const tellHeadEveryMs = 3_600_000;
const signEveryMs = 3_600_000;
/** How long the last move may take, ms; what it leaves waits in the journal. */
const lastMoveMs = 5_000;

/** Moves evidence from the journal to the archive, as long as it has the right to, in the background. */
export function createKeeper(options: KeeperOptions): EvidenceKeeper {
  const { journal, archive, logger, now, everyMs = 1_000, wakeAfterMs = 10_000 } = options;
  const mover = createMover({ journal, archive, logger, now });
  const closing = new AbortController();
  let holding: Holding | undefined;
  let identified = false;
  let last: Promise<unknown> = Promise.resolve();
  let failures = 0;
  let refusals = 0;
  /** When entries were first seen to wait for a sleeping archive. */
  let waitingSince: number | undefined;
  let pruneAt = now();
  let tellHeadAt = now();
  let signAt = 0;

  async function identify(): Promise<void> {
    if (identified) return;
    const foreign = (why: string) => new DaleError("archive_foreign", why);
    if (!options.exists() && (await journal.archive()) !== undefined) {
      throw foreign("This journal goes to an archive that is not here.");
    }
    const id = await archive.id();
    if ((await journal.archive(id)) !== id) throw foreign("This journal goes to another archive.");
    identified = true;
  }

  /** One at a time: a pass that was begun is waited for. */
  function move(signal?: AbortSignal): Promise<number> {
    const moving = last
      .catch(() => undefined)
      .then(async () => {
        await identify();
        return await mover.pass(signal);
      });
    last = moving;
    return moving;
  }

  /**
   * The log is kept where nobody who can write the archive may reach: from then on nothing that this head covers can be
   * cut off unseen.
   */
  async function tellHead(): Promise<void> {
    tellHeadAt = now() + tellHeadEveryMs;
    const head = await archive.head();
    if (head) {
      const { number: block, hash, signature } = head;
      logger.info({ block, hash, signature }, "evidence is signed up to here");
    }
  }

  async function prune(retentionMs: number, signal: AbortSignal): Promise<void> {
    pruneAt = now() + pruneEveryMs;
    await identify();
    while (!signal.aborted && (await archive.prune(now() - retentionMs)));
  }

  async function look(signal: AbortSignal): Promise<void> {
    const { retentionMs } = options;
    if (retentionMs !== undefined && now() >= pruneAt && options.exists()) await prune(retentionMs, signal);
    const { sessions } = await journal.backlog();
    if (sessions === 0) {
      waitingSince = undefined;
      return;
    }
    if (options.asleep()) {
      waitingSince ??= now();
      if (now() - waitingSince < wakeAfterMs) return;
    }
    waitingSince = undefined;
    await move(signal);
    if (now() >= tellHeadAt) await tellHead();
  }

  async function giveSign(): Promise<void> {
    if (now() < signAt) return;
    await journal.keep();
    signAt = now() + signEveryMs;
  }

  async function moveWhileHolding(held: Holding): Promise<void> {
    const signal = AbortSignal.any([closing.signal, ...(held.lost ? [held.lost] : [])]);
    while (!signal.aborted) {
      const pauseMs = Math.min(everyMs * 2 ** Math.min(failures, 10), Math.max(everyMs, longestPauseMs));
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) break;
      try {
        await giveSign();
        await look(signal);
        failures = 0;
      } catch (error) {
        failures += 1;
        const code = error instanceof DaleError ? error.code : "unknown";
        const level = code === "archive_foreign" ? "error" : "warn";
        logger[level]({ code, failures }, "evidence is not archived for now; it waits in the journal");
      }
    }
  }

  /** Somebody else may well have the right; that it cannot be asked for is another matter. */
  function notHeld(error: unknown): undefined {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    if (refusals++ % 60 === 0) logger.warn({ code }, "the right to archive evidence cannot be asked for; it waits");
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      holding = await options.hold().catch(notHeld);
      if (holding) await moveWhileHolding(holding);
      if (!closing.signal.aborted) {
        holding = undefined;
        await sleep(retryMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
  }
  const running = run();

  return {
    holds: () => holding !== undefined,
    identify,
    move,
    async close() {
      closing.abort();
      await running;
      if (holding && !holding.lost?.aborted && !options.asleep()) {
        await move(AbortSignal.timeout(lastMoveMs)).catch(() => undefined);
      }
      await last.catch(() => undefined);
      await options.finish?.();
      await holding?.release();
      holding = undefined;
    },
  };
}
