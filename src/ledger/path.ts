import { isJsonObject, type JsonValue } from "../canonical/index.js";

/** Steps into a value: names of keys, and places in a list from 0. */
export type ValuePath = readonly (string | number)[];

const longest = 256;
const step = /^(?:\.?([^.[\]()"'\s](?:[^.[\]()"']*[^.[\]()"'\s])?)|\[(\d{1,6})\])/;

/**
 * Reads `order_id`, `customer.tax_id` or `items[0].id`; `$.` may stand before it. A key that itself holds a dot, a
 * bracket or a quote cannot be named.
 * @returns undefined for what is no path
 */
export function parsePath(text: string): ValuePath | undefined {
  let rest = text.replace(/^\$(?:\.|(?=\[))/, "");
  if (rest === "" || text.length > longest || rest.startsWith(".")) return undefined;
  const path: (string | number)[] = [];
  while (rest !== "") {
    const found = step.exec(rest);
    if (!found || (path.length > 0 && found[1] !== undefined && !rest.startsWith("."))) return undefined;
    path.push(found[1] ?? Number(found[2]));
    rest = rest.slice(found[0].length);
  }
  return path;
}

/** The one spelling of a path. */
export function writePath(path: ValuePath): string {
  return path.map((each, index) => (typeof each === "number" ? `[${each}]` : index === 0 ? each : `.${each}`)).join("");
}

/** What stands there; undefined when nothing does. */
export function valueAt(value: JsonValue, path: ValuePath): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const each of path) {
    if (isList(at)) at = typeof each === "number" ? at[each] : undefined;
    else if (isJsonObject(at)) at = typeof each === "string" && Object.hasOwn(at, each) ? at[each] : undefined;
    else return undefined;
  }
  return at;
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * The paths of everything in a value, the outermost first, at most `limit`.
 * Keys that a path cannot name are left out.
 */
export function pathsOf(value: JsonValue, limit: number): readonly ValuePath[] {
  const found: ValuePath[] = [];
  const waiting: { readonly path: ValuePath; readonly value: JsonValue }[] = [{ path: [], value }];
  for (let next = waiting.shift(); next !== undefined && found.length < limit; next = waiting.shift()) {
    if (next.path.length > 0) found.push(next.path);
    const children: readonly (readonly [string | number, JsonValue])[] = isList(next.value)
      ? next.value.map((item, index) => [index, item] as const)
      : isJsonObject(next.value)
        ? Object.entries(next.value)
        : [];
    for (const [name, child] of children.slice(0, limit)) {
      const path = [...next.path, name];
      if (typeof name === "number" || parsePath(name)?.[0] === name) waiting.push({ path, value: child });
    }
  }
  return found;
}
