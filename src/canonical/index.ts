/**
 * Strict JSON, its canonical form (RFC 8785) and fingerprints. What cannot be hashed honestly is refused here, with a
 * clear reason; it knows nothing of tools, people or gates.
 */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}
