import { mkdir, realpath } from "node:fs/promises";
import type { Lease } from "../channels/index.js";
import type { FolderLock } from "./folder-lock.js";
import { acquireLease } from "./lease.js";
import type { Shard } from "./script.js";
import { holdSocketFolder } from "./socket-folder.js";

const leaseTtlMs = 10_000;

/** The right to move evidence into an archive that any process could reach. Undefined when another process has it. */
export function leaseEvidence({ redis, prefix }: Shard): Promise<Lease | undefined> {
  const base = `${prefix}:evidence-mover`;
  return acquireLease(redis, { lease: `${base}:lease`, fence: `${base}:fence` }, leaseTtlMs);
}

/** The right to a folder that only one process may use; made if need be. Undefined when another process has it. */
export async function holdEvidenceFolder(folder: string): Promise<FolderLock | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const held = await holdSocketFolder(await realpath(folder));
  return held === "held" ? undefined : held.lock;
}
