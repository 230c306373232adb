/**
 * Strict JSON, its canonical form (RFC 8785) and fingerprints. What cannot be hashed honestly is refused here, with a
 * clear reason; it knows nothing of tools, people or gates.
 */
export { checkJson } from "./check.js";
export { canonicalize, digestId, fingerprint, hmacFingerprint } from "./fingerprint.js";
export { isJsonObject, type JsonCheck, type JsonObject, type JsonRefusal, type JsonValue } from "./json.js";
export { parseStrict } from "./parse.js";
