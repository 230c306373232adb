import { createHash } from "node:crypto";
import { lstat, mkdir } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

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
