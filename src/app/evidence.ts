import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { DaleError } from "../errors/index.js";
import {
  type Backlog,
  createArchive,
  createFullReader,
  createInstallationKeys,
  createKeeper,
  createPgliteDialect,
  createPostgresDialect,
  type EvidenceArchive,
  type EvidenceEntry,
  type EvidenceJournal,
  type EvidenceKeeper,
  type EvidenceReader,
  type FullReader,
} from "../evidence/index.js";
import { type Bus, holdEvidenceFolder, leaseEvidence, type Shard } from "../store/index.js";
import type { DaleConfig } from "./config/index.js";
import { answerAsOwner, createOwnerDesk } from "./evidence-owner.js";
import { evidenceSecret } from "./installation-key.js";
import type { Logger } from "./logger.js";

/** All that this process does with evidence. */
export interface EvidenceDesk extends FullReader {
  backlog(): Promise<Backlog>;
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
  const { url } = config.evidence;
  const place = url === undefined ? pglitePlace(config.dataDir) : postgresPlace(url, shard);
  const archive = createArchive({ dialect: place.dialect, keys, now });
  const keeper = moves ? createKeeper({ ...place, journal, archive, logger, now }) : undefined;
  const leave =
    place.everywhere || !keeper ? () => {} : await answerAsOwner(bus, keeper.holds, answering(archive, keeper));
  const reader = createFullReader({ journal, archive: place.everywhere ? archive : wherever(archive, keeper, bus) });
  return {
    ...reader,
    backlog: () => journal.backlog(),
    async close() {
      leave();
      await keeper?.close();
      await archive.close();
    },
  };
}

/** Where an archive is, and who may move entries into it. */
interface Place extends Pick<Parameters<typeof createKeeper>[0], "hold" | "exists" | "asleep"> {
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

const query = z.strictObject({
  session: z.string().optional(),
  proposal: z.string().optional(),
  limit: z.number().optional(),
  deliveries: z.boolean().optional(),
});

/** The archive if it is ours, else whoever's it is. */
function wherever(archive: EvidenceArchive, keeper: EvidenceKeeper | undefined, bus: Bus): EvidenceReader {
  const owner = createOwnerDesk(bus);
  const ours = async () => {
    if (!keeper?.holds()) return false;
    return keeper.identify().then(
      () => true,
      (error: unknown) => {
        if (error instanceof DaleError && error.code === "archive_foreign") return false;
        throw error;
      },
    );
  };
  return {
    async list(wanted) {
      if (await ours()) return await archive.list(wanted);
      return (await owner.ask("list", { ...wanted })) as readonly EvidenceEntry[];
    },
  };
}

function answering(archive: EvidenceArchive, keeper: EvidenceKeeper): Parameters<typeof answerAsOwner>[2] {
  return async (question, about) => {
    await keeper.identify();
    if (question !== "list") throw new TypeError("Nobody asks that.");
    const { session, proposal, limit, deliveries } = query.parse(about);
    const wanted = {
      ...(session === undefined ? {} : { session }),
      ...(proposal === undefined ? {} : { proposal }),
      ...(limit === undefined ? {} : { limit }),
      ...(deliveries === undefined ? {} : { deliveries }),
    };
    return (await archive.list(wanted)).map((entry) => ({ ...entry, detail: { ...entry.detail } }));
  };
}
