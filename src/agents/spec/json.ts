/** Plain JSON, as a checked file holds it. Structurally the same as the canonical room's. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A JSON Schema of an object: `type` is "object". */
export type ObjectSchema = JsonObject;
