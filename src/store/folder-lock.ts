import { stat, unlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface FolderLock {
  /** What holds it. A process that is handed it holds the lock too: until both are gone nobody else gets it. */
  readonly server: Server;
  /** False when somebody else's lock stands in its place. */
  stillHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** Longer than it takes a process that saw a dead lock to remove it and put its own in its place. */
const settleMs = 150;

/**
 * The right to a folder, held by listening on a unix socket in it: the kernel ends it with the process, so that no
 * number of a dead process is ever taken for a living one. Undefined when another process holds it.
 */
export async function holdFolder(path: string): Promise<FolderLock | undefined> {
  let server = await listen(path);
  if (!server) {
    if (await isAlive(path)) return undefined;
    await unlink(path).catch(() => undefined);
    server = await listen(path);
    if (!server) return undefined;
    const lock = await lockOf(path, server);
    // Somebody else may have seen the same dead lock, and have removed ours for it.
    await sleep(settleMs);
    // A lock that was lost is not closed: that would remove the path, which is the other's now.
    return (await lock.stillHeld()) ? lock : undefined;
  }
  return lockOf(path, server);
}

async function lockOf(path: string, server: Server): Promise<FolderLock> {
  const ours = await inode(path);
  const stillHeld = async () => ours !== undefined && (await inode(path)) === ours;
  return {
    server,
    stillHeld,
    async release() {
      // Closing removes the path: it must be ours.
      if (await stillHeld()) await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function inode(path: string): Promise<bigint | undefined> {
  return stat(path, { bigint: true }).then(
    (found) => found.ino,
    () => undefined,
  );
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((visitor) => visitor.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => resolve(server.unref()));
  });
}

function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const visitor = connect(path);
    const settle = (alive: boolean) => {
      visitor.destroy();
      resolve(alive);
    };
    visitor.once("connect", () => settle(true));
    visitor.once("error", () => settle(false));
  });
}
