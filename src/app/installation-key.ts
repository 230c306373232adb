import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { link, mkdir, open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DaleError } from "../errors/index.js";
import { secretBytes } from "../evidence/index.js";

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

const evidenceKeyFile = "evidence.key";
const evidenceKeyStart = "dale-evidence-key-v1 ";

/**
 * The 32 bytes that evidence is encrypted and signed with: from the configuration, else from a file in the data folder
 * (0600), made at first use. Without them the archive can be neither read nor continued.
 * @throws DaleError `archive_foreign` when the file is not such a key
 */
export async function evidenceSecret(configured: string | undefined, dataDir: string): Promise<Uint8Array> {
  if (configured !== undefined) return Buffer.from(configured, "base64");
  const file = join(dataDir, evidenceKeyFile);
  if (!existsSync(file)) await makeEvidenceKey(dataDir, file);
  const text = await readFile(file, "utf8");
  const secret = Buffer.from(text.startsWith(evidenceKeyStart) ? text.slice(evidenceKeyStart.length) : "", "base64");
  if (secret.length !== secretBytes) throw new DaleError("archive_foreign", `${file} is not a key of evidence.`);
  return secret;
}

/** On the disk, whole, before anything is encrypted with it; of several processes one is the first. */
async function makeEvidenceKey(dataDir: string, file: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const making = `${file}.${randomBytes(6).toString("hex")}`;
  const handle = await open(making, "wx", 0o600);
  try {
    await handle.writeFile(`${evidenceKeyStart}${randomBytes(secretBytes).toString("base64")}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await link(making, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(making);
  const folder = await open(dataDir);
  await folder.sync().finally(() => folder.close());
}
