import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { EvidenceEntry } from "./entry.js";

/**
 * What an entry tells of a person: who, in which turn, what was shown, typed and run. It is kept sealed under a key of the
 * entry's own, which follows from the data key of the session: drop the data key, and nobody ever reads it again; show
 * one entry's key, and that entry can be read and checked, and no other.
 */
export type SealedPart = Pick<EvidenceEntry, "session" | "argsHash" | "turn" | "detail">;

export const sealedPart = z.strictObject({
  session: z.string(),
  argsHash: z.string(),
  turn: z.string().optional(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

const version = 1;
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

export function newDataKey(): Uint8Array {
  return randomBytes(keyBytes);
}

export function entryKey(dataKey: Uint8Array, id: string): Uint8Array {
  return Buffer.from(hkdfSync("sha256", dataKey, "", `dale evidence entry ${id}`, keyBytes));
}

/**
 * AES-256-GCM. The check of the key comes first (HMAC): GCM alone would let who knows two keys make one text that opens
 * as two different ones.
 */
export function seal(part: SealedPart, key: Uint8Array, id: string): Uint8Array {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(id));
  const { session, argsHash, turn, detail } = part;
  const text = Buffer.from(JSON.stringify({ session, argsHash, turn, detail }), "utf8");
  return Buffer.concat([
    Buffer.of(version),
    keyCheck(key),
    iv,
    cipher.update(text),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/** @returns undefined when it was not sealed under this key for this entry, or altered */
export function open(sealed: Uint8Array, key: Uint8Array, id: string): SealedPart | undefined {
  const ivAt = 1 + keyBytes;
  const textAt = ivAt + ivBytes;
  if (sealed[0] !== version || sealed.length < textAt + tagBytes || key.length !== keyBytes) return undefined;
  if (!timingSafeEqual(sealed.subarray(1, ivAt), keyCheck(key))) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(ivAt, textAt));
    decipher.setAAD(Buffer.from(id)).setAuthTag(sealed.subarray(-tagBytes));
    const text = Buffer.concat([decipher.update(sealed.subarray(textAt, -tagBytes)), decipher.final()]);
    const { turn, ...part } = sealedPart.parse(JSON.parse(text.toString("utf8")));
    return { ...part, ...(turn === undefined ? {} : { turn }) };
  } catch {
    return undefined;
  }
}

function keyCheck(key: Uint8Array): Uint8Array {
  return createHmac("sha256", key).update("dale evidence key check").digest();
}
