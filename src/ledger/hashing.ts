import { createHash, createHmac, randomBytes } from "node:crypto";
import { canonicalize, type JsonValue } from "../canonical/index.js";

/**
 * How a hash was made: `sha256`, which anybody can make again, or `hmac:<id>` with a process's own key, which only that
 * process can.
 */
export type HashScheme = string;

const processKey = randomBytes(32);
const ownScheme = `hmac:${createHash("sha256").update(processKey).digest("hex").slice(0, 12)}`;

/** @param hidden whether nobody but this process may be able to compare arguments with the hash */
export function schemeFor(hidden: boolean): HashScheme {
  return hidden ? ownScheme : "sha256";
}

/** SHA-256 or HMAC-SHA-256 of the value's canonical form, lowercase hex; undefined for another process's scheme. */
export function hashOf(value: JsonValue, scheme: HashScheme): string | undefined {
  const text = canonicalize(value);
  if (scheme === "sha256") return createHash("sha256").update(text).digest("hex");
  return scheme === ownScheme ? createHmac("sha256", processKey).update(text).digest("hex") : undefined;
}
