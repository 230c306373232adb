import type { JsonValue } from "../../canonical/index.js";
import { isRecord } from "./parameters.js";

/**
 * `{param}` in manifests. Text is replaced and nothing else happens: the values were written by a model, so there is no
 * expression to evaluate. Only declared parameters are placeholders; any other `{word}` is literal text.
 */
export interface Values {
  readonly declared: ReadonlySet<string>;
  /** Own properties are the arguments that were given, defaults included. */
  readonly given: ReadonlyMap<string, JsonValue>;
}

/** A value that may not stand where the manifest puts it. The message is for the model and names no value. */
export class UnfitArgument extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnfitArgument";
  }
}

/** What takes the place of anything that needs an optional parameter which was not given. */
export const leftOut: unique symbol = Symbol("left out");

const placeholder = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const alone = /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/**
 * A value of the manifest with its placeholders filled. A string of exactly `{param}` becomes the argument with its type;
 * a string that embeds placeholders stays text; a string that needs a parameter which was not given is left out, with the
 * key or list entry that holds it. Keys are never placeholders.
 */
export function fill(template: unknown, values: Values): JsonValue | typeof leftOut {
  if (typeof template === "string") {
    const name = alone.exec(template)?.[1];
    if (name !== undefined && values.declared.has(name)) return values.given.get(name) ?? absent(name, values);
    return fillText(template, values);
  }
  if (Array.isArray(template)) {
    return template.map((item) => fill(item, values)).filter((item) => item !== leftOut);
  }
  if (isRecord(template)) {
    const entries = Object.entries(template).map(([key, item]) => [key, fill(item, values)] as const);
    return Object.fromEntries(entries.filter((entry): entry is [string, JsonValue] => entry[1] !== leftOut));
  }
  return template === null || typeof template === "number" || typeof template === "boolean" ? template : leftOut;
}

function absent(name: string, values: Values): null | typeof leftOut {
  return values.given.has(name) ? null : leftOut;
}

/**
 * A text with its placeholders filled.
 * @param encode makes a parameter's text fit for its place; literal text is not touched
 */
export function fillText(
  template: string,
  values: Values,
  encode: (text: string, name: string) => string = (text) => text,
): string | typeof leftOut {
  let missing = false;
  const text = template.replace(placeholder, (whole, name: string) => {
    if (!values.declared.has(name)) return whole;
    const value = values.given.get(name);
    if (value === undefined) {
      missing = true;
      return "";
    }
    return encode(asText(value), name);
  });
  return missing ? leftOut : text;
}

/** Strings as they are, everything else as JSON writes it. */
export function asText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The declared parameters that a text uses. */
export function placeholders(template: string): string[] {
  return [...template.matchAll(placeholder)].map((match) => match[1] ?? "");
}
