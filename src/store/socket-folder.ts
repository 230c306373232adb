import { createHash } from "node:crypto";
import { lstat, mkdir } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { DaleError } from "../errors/index.js";

/** The kernel's limit for the path of a unix socket is 104 bytes on macOS, 108 on Linux, the final zero included. */
const longestPath = 103;
const longestName = "/owner.sock".length;

/**
 * Where the sockets of a data folder live: in the folder itself, or, where its path is too long for a socket, in a
 * private folder of the system's temporary one that is the same for every process.
 * @param dataDir a real path
 */
export async function socketFolder(dataDir: string): Promise<string> {
  const own = join(dataDir, "redis");
  if (Buffer.byteLength(own) + longestName <= longestPath) return own;
  const digest = createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
  const { uid } = userInfo();
  const folder = join(tmpdir(), `dale-${uid}-${digest}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory() || (uid >= 0 && found.uid !== uid)) {
    throw new DaleError("store_unfit", `${folder} belongs to somebody else; choose a shorter data_dir.`);
  }
  return folder;
}
