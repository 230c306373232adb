import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DaleError } from "../errors/index.js";
import {
  type Backlog,
  createArchive,
  createFullReader,
  createInstallationKeys,
  createKeeper,
  createMover,
  createPgliteDialect,
  createPostgresDialect,
  type EvidenceJournal,
  type EvidenceKeeper,
  type FullReader,
  type KeeperOptions,
} from "../evidence/index.js";
import { type Bus, holdEvidenceFolder, leaseEvidence, type Shard } from "../store/index.js";
import type { DaleConfig } from "./config/index.js";
import { type ArchiveAccess, answersOf, askedArchive, ownArchive } from "./evidence-access.js";
import { answerAsOwner, createOwnerDesk } from "./evidence-owner.js";
import { evidenceSecret } from "./installation-key.js";
import type { Logger } from "./logger.js";

/** All that this process does with evidence. */
export interface EvidenceDesk extends FullReader, Omit<ArchiveAccess, "list"> {
  backlog(): Promise<Backlog>;
  /** Waits until this process has the archive itself. False when another one keeps it. */
  owning(patienceMs: number): Promise<boolean>;
  close(): Promise<void>;
}

export interface EvidenceOptions {
  readonly config: DaleConfig;
  readonly journal: EvidenceJournal;
  readonly shard: Shard;
  readonly bus: Bus;
  /** Whether this process may move evidence into the archive: a worker. */
  readonly moves: boolean;
  readonly logger: Logger;
  readonly now: () => number;
}

/**
 * PostgreSQL is read by every process, and one of the workers moves entries into it, by a lease. PGlite in the data folder
 * is one worker's, by the folder's lock, and the others ask it. Opens nothing: that happens at the first use.
 */
export async function openEvidence(options: EvidenceOptions): Promise<EvidenceDesk> {
  const { config, journal, shard, bus, moves, logger, now } = options;
  const keys = createInstallationKeys(await evidenceSecret(config.evidence.key, config.dataDir));
  const { url, retentionMs } = config.evidence;
  const place = url === undefined ? pglitePlace(config.dataDir) : postgresPlace(url, shard);
  const archive = createArchive({ dialect: place.dialect, keys, now });
  const finish = () => archive.close();
  const keeper = moves ? createKeeper({ ...place, journal, archive, finish, retentionMs, logger, now }) : undefined;
  // Into PostgreSQL anybody may move: it takes an entry once, whoever offers it.
  const mover = createMover({ journal, archive, logger, now });
  const move = () => (keeper ? keeper.move() : mover.pass());
  const own = ownArchive({ archive, journal, publicKey: keys.publicKey, move });
  const access = place.everywhere ? own : wherever(own, keeper, askedArchive(createOwnerDesk(bus)));
  const leave = place.everywhere || !keeper ? () => {} : await answerOthers(bus, keeper, own);
  const reader = createFullReader({ journal, archive: access });
  return {
    ...access,
    ...reader,
    backlog: () => journal.backlog(),
    async owning(patienceMs) {
      const until = now() + patienceMs;
      while (!place.everywhere && !keeper?.holds() && now() < until) await sleep(50);
      return place.everywhere || (keeper?.holds() ?? false);
    },
    async close() {
      leave();
      await (keeper ? keeper.close() : archive.close());
    },
  };
}

/** Where an archive is, and who may move entries into it. */
interface Place extends Pick<KeeperOptions, "hold" | "exists" | "asleep"> {
  readonly dialect: Parameters<typeof createArchive>[0]["dialect"];
  /** Whether every process can use it. */
  readonly everywhere: boolean;
}

function postgresPlace(url: string, shard: Shard): Place {
  return {
    dialect: createPostgresDialect(url),
    everywhere: true,
    hold: () => leaseEvidence(shard),
    exists: () => true,
    asleep: () => false,
  };
}

function pglitePlace(dataDir: string): Place {
  const own = join(dataDir, "evidence");
  const folder = join(own, "pglite");
  let lock: Awaited<ReturnType<typeof holdEvidenceFolder>>;
  const dialect = createPgliteDialect({ folder, lock: () => lock?.server });
  return {
    dialect,
    everywhere: false,
    async hold() {
      lock = await holdEvidenceFolder(own);
      return lock;
    },
    exists: () => existsSync(folder),
    asleep: () => !dialect.running(),
  };
}

/** The archive if it is ours, else whoever's it is. */
function wherever(own: ArchiveAccess, keeper: EvidenceKeeper | undefined, asked: ArchiveAccess): ArchiveAccess {
  const choose = async (): Promise<ArchiveAccess> => {
    if (!keeper?.holds()) return asked;
    try {
      await keeper.identify();
      return own;
    } catch (error) {
      if (error instanceof DaleError && error.code === "archive_foreign") return asked;
      throw error;
    }
  };
  return {
    list: async (query) => (await choose()).list(query),
    async *export(scope) {
      yield* (await choose()).export(scope);
    },
    erase: async (session) => (await choose()).erase(session),
    head: async () => (await choose()).head(),
  };
}

function answerOthers(bus: Bus, keeper: EvidenceKeeper, own: ArchiveAccess): Promise<() => void> {
  const answer = answersOf(own);
  return answerAsOwner(bus, keeper.holds, async (question, about) => {
    await keeper.identify();
    return await answer(question, about);
  });
}
