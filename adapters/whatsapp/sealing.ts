import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { DaleError } from "../../src/errors/index.js";

/** How state is kept: in the clear, or under AES-256-GCM with the configured keys. */
export interface Sealer {
  /** @param name where it is kept: a sealed value cannot be moved to another place */
  seal(name: string, text: string): string;
  /** @throws DaleError `secrets_unreadable` when no configured key opens it */
  open(name: string, kept: string): string;
  /** Whether `kept` is as `seal` would keep it today: under the first key, or in the clear where there is none. */
  isCurrent(kept: string): boolean;
}

const mark = "sealed1";
const ivBytes = 12;
const tagBytes = 16;

/** @param keys 32 bytes each, in base64; the first seals, all of them open */
export function createSealer(keys: readonly string[]): Sealer {
  const known = keys.map((text) => {
    const key = Buffer.from(text, "base64");
    return { key, id: createHash("sha256").update(key).digest("hex").slice(0, 12) };
  });
  const [first] = known;
  return {
    seal(name, text) {
      if (!first) return text;
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", first.key, iv).setAAD(Buffer.from(name));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return `${mark}.${first.id}.${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64")}`;
    },
    open(name, kept) {
      if (!kept.startsWith(`${mark}.`)) return kept;
      const [, id, body = ""] = kept.split(".");
      const match = known.find((candidate) => candidate.id === id);
      if (!match) throw unreadable("is kept under a key that is not among encryption_keys");
      const bytes = Buffer.from(body, "base64");
      const decipher = createDecipheriv("aes-256-gcm", match.key, bytes.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      });
      try {
        decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
        const text = decipher.update(bytes.subarray(ivBytes + tagBytes));
        return Buffer.concat([text, decipher.final()]).toString("utf8");
      } catch (error) {
        throw unreadable("was altered", error);
      }
    },
    isCurrent: (kept) => (first ? kept.startsWith(`${mark}.${first.id}.`) : !kept.startsWith(`${mark}.`)),
  };
}

function unreadable(why: string, cause?: unknown): DaleError {
  const message = `The state of the linked WhatsApp device ${why}.`;
  return new DaleError("secrets_unreadable", message, cause === undefined ? {} : { cause });
}
