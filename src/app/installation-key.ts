import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * 32 bytes that seal per-run credentials on their way through the queue. From the API's token where there is one, so that
 * every process of an installation has the same; else from a file in the data folder, made at first use.
 */
export async function sealingKey(token: string | undefined, dataDir: string): Promise<Uint8Array> {
  if (token !== undefined) return createHash("sha256").update(`dale run secrets\n${token}`).digest();
  const file = join(dataDir, "sealing.key");
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(file, randomBytes(32), { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  return readFile(file);
}
