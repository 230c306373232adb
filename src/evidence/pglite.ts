import { closeSync, fsyncSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";

/**
 * PGlite by itself never waits for the disk: what it committed survives the process, not the machine. Here a commit is a
 * commit: the file system that it is given passes `fsync` on to Node's.
 */
class DurableFiles extends NodeFS {
  override async init(...args: Parameters<NodeFS["init"]>): ReturnType<NodeFS["init"]> {
    const made = await super.init(...args);
    const { preRun = [] } = made.emscriptenOpts;
    const syncing = (module: object): void => {
      const streams: unknown = Reflect.get(Reflect.get(module, "NODEFS"), "stream_ops");
      if (typeof streams !== "object" || streams === null) throw new TypeError("PGlite's files are not Node's.");
      Reflect.set(streams, "fsync", (stream: { readonly nfd: number }) => {
        fsyncSync(stream.nfd);
        return 0;
      });
    };
    return { ...made, emscriptenOpts: { ...made.emscriptenOpts, preRun: [...[preRun].flat(), syncing] } };
  }
}

/** PGlite's own, but for `-F` (no fsync), and with as little memory as an archive needs. */
const settings: Readonly<Record<string, string>> = {
  search_path: "public",
  exit_on_error: "false",
  log_checkpoints: "false",
  max_worker_processes: "0",
  max_parallel_workers: "0",
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0",
  io_method: "sync",
  fsync: "on",
  wal_sync_method: "fsync",
  shared_buffers: "16MB",
  max_wal_size: "64MB",
  min_wal_size: "32MB",
  jit: "off",
};

/** Opens the database in `folder`, and makes it where there is none, which takes seconds of CPU time. One process only. */
export function openPglite(folder: string): Promise<PGlite> {
  return PGlite.create({
    fs: new DurableFiles(folder),
    startParams: ["--single", "-O", "-j", ...Object.entries(settings).flatMap(([name, to]) => ["-c", `${name}=${to}`])],
  });
}

/** Waits until everything in a folder that was just made is on the disk. */
export function syncFolder(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile() || entry.isDirectory()) syncPath(join(entry.parentPath, entry.name));
  }
  syncPath(folder);
}

function syncPath(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
