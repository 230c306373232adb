export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Why something is not JSON that can be hashed honestly. Stable; the message beside it is for a model or a developer. */
export type JsonRefusal =
  /** More than 256 KiB. */
  | "too_large"
  /** More than 32 levels of objects and arrays. */
  | "too_deep"
  | "duplicate_key"
  /** `__proto__`, `constructor` or `prototype`. */
  | "forbidden_key"
  /** An integer beyond 2^53: two of them may be one number here. */
  | "integer_too_large"
  /** 1e400 would become Infinity. */
  | "number_overflow"
  /** 1e-400 would become 0. */
  | "number_underflow"
  /** NaN or Infinity. */
  | "not_finite"
  /** Half of a UTF-16 pair. */
  | "lone_surrogate"
  /** Something after the value. */
  | "trailing_text"
  | "syntax"
  /** In memory only: an object that contains itself. */
  | "cycle"
  /** In memory only: what JSON has no form for (a Date, a Map, an instance, a function, undefined, a hole in an array). */
  | "not_json"
  /** In memory only: a getter or a proxy threw. */
  | "unreadable";

export type JsonCheck =
  | {
      readonly ok: true;
      /** A copy of nothing but plain values; objects have no prototype, so nothing can be inherited or polluted. */
      readonly value: JsonValue;
    }
  | { readonly ok: false; readonly reason: JsonRefusal; readonly message: string };

export const maxDepth = 32;
export const maxBytes = 256 * 1024;
export const largestInteger = 2 ** 53;

const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const sentences: Readonly<Record<JsonRefusal, string>> = {
  too_large: "It is larger than 256 KiB.",
  too_deep: "It is nested more than 32 levels deep.",
  duplicate_key: "A key stands twice in one object.",
  forbidden_key: "The keys __proto__, constructor and prototype are not allowed.",
  integer_too_large: "An integer is beyond 2^53 and would be rounded. Give it as a string.",
  number_overflow: "A number is too large to be represented. Give it as a string.",
  number_underflow: "A number is too small to be represented and would become 0. Give it as a string.",
  not_finite: "NaN and Infinity are no JSON.",
  lone_surrogate: "A text contains half of a UTF-16 surrogate pair.",
  trailing_text: "Something follows the JSON value. Give exactly one value.",
  syntax: "It is not valid JSON.",
  cycle: "An object contains itself.",
  not_json: "It contains something that JSON has no form for.",
  unreadable: "Reading it failed.",
};

/** Thrown inside this room only: what the room exports answers a `JsonCheck`. */
export class Refused extends Error {
  /** @param where appended to the reason's sentence, e.g. `At position 12.` */
  constructor(
    readonly reason: JsonRefusal,
    where = "",
  ) {
    super(where === "" ? sentences[reason] : `${sentences[reason]} ${where}`);
  }
}

/** @throws Refused unless `key` may be a key */
export function checkKey(key: string, where?: string): void {
  if (forbiddenKeys.has(key)) throw new Refused("forbidden_key", where);
}

/** @throws Refused for a text that has no UTF-8 form */
export function wellFormed(text: string, where?: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new Refused("lone_surrogate", where);
  return text;
}

/** What has members by name: no list, no null. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
