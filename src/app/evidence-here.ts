import type { DaleConfig } from "./config/index.js";
import type { EvidenceDesk } from "./evidence.js";
import { openEvidence } from "./evidence.js";
import { createLogger } from "./logger.js";
import { openStore } from "./store.js";

/** How long the archive may still be another process's that is just ending, ms. */
const owningMs = 3_000;

/**
 * The evidence of an installation for a command that runs by itself, while its Dale does not, or serves no HTTP.
 * @throws DaleError `store_unfit` where a running Dale has the data folder
 */
export async function openEvidenceHere(config: DaleConfig): Promise<Omit<EvidenceDesk, "owning">> {
  const logger = createLogger({ level: "error" });
  const store = await openStore({ config, logger, onFatal: () => undefined, now: Date.now });
  try {
    const desk = await openEvidence({ ...store, config, moves: true, logger, now: Date.now });
    await desk.owning(owningMs);
    return {
      ...desk,
      async close() {
        await desk.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
