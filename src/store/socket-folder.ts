import { createHash } from "node:crypto";
import { lstat, mkdir } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { type FolderLock, holdFolder } from "./folder-lock.js";

/** The kernel's limit for the path of a unix socket is 104 bytes on macOS, 108 on Linux, the final zero included. */
const longestPath = 103;
const longestName = "/owner.sock".length;

/**
 * Where the sockets of a data folder may live, the best first: in the folder itself, unless its path is too long for a
 * socket; else, or where its file system has no sockets, in a private folder of the system's temporary one, which is the
 * same for every process of this user.
 * @param own a real path
 */
export function socketFolders(own: string): readonly string[] {
  const digest = createHash("sha256").update(own).digest("hex").slice(0, 16);
  const away = join(tmpdir(), `dale-${userInfo().uid}-${digest}`);
  return Buffer.byteLength(own) + longestName <= longestPath ? [own, away] : [away];
}

/** @throws when somebody else was faster in making a folder of that name */
export async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  const { uid } = userInfo();
  if (!found.isDirectory() || (uid >= 0 && found.uid !== uid)) throw new Error(`${folder} belongs to somebody else`);
}

/**
 * Takes the right to a folder of ours, and says where sockets for it may be put.
 * @param own a real path
 * @returns `held` when another process has it
 * @throws what kept a socket from being made
 */
export async function holdSocketFolder(
  own: string,
): Promise<{ readonly folder: string; readonly lock: FolderLock } | "held"> {
  let cause: unknown;
  for (const folder of socketFolders(own)) {
    try {
      await makePrivate(folder);
      const lock = await holdFolder(join(folder, "owner.sock"));
      return lock ? { folder, lock } : "held";
    } catch (error) {
      cause = error;
    }
  }
  throw cause;
}
