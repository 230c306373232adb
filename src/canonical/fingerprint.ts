import { createHash, createHmac } from "node:crypto";
import serialize from "canonicalize";
import type { JsonValue } from "./json.js";

/**
 * The canonical form of RFC 8785 (JCS): one text for one value, whatever the order of its keys.
 *
 * @throws TypeError for what is no JSON in spite of its type (NaN, a lone surrogate, undefined, a function)
 */
export function canonicalize(value: JsonValue): string {
  let text: string | undefined;
  try {
    text = serialize(value);
  } catch (error) {
    throw new TypeError("The value has no canonical form.", { cause: error });
  }
  if (text === undefined) throw new TypeError("The value has no canonical form.");
  return text;
}

/** The identity of a call: sha256(JCS(["v1", tool, args])), lowercase hex. */
export function fingerprint(tool: string, args: JsonValue): string {
  return createHash("sha256").update(callText(tool, args)).digest("hex");
}

/** Like `fingerprint`, but comparable only by who holds the key: for arguments that may not be guessed from a hash. */
export function hmacFingerprint(key: string | Uint8Array, tool: string, args: JsonValue): string {
  return createHmac("sha256", key).update(callText(tool, args)).digest("hex");
}

/** An opaque id that is the same for the same parts: prefix + 22 characters of base64url(sha256(JCS(parts))). */
export function digestId(prefix: string, ...parts: readonly JsonValue[]): string {
  return prefix + createHash("sha256").update(canonicalize(parts)).digest("base64url").slice(0, 22);
}

function callText(tool: string, args: JsonValue): string {
  return canonicalize(["v1", tool, args]);
}
