import { isRecord } from "./parameters.js";

/** One step of a path into JSON: a key, an index, or every item of a list. */
type Step = string | number | typeof everyItem;
const everyItem: unique symbol = Symbol("every item");

/**
 * Reads a path such as `data.rows`, `items[0].id`, `rows[*].name` or `["odd key"].x`; a leading `$` is allowed.
 * @returns undefined when the text is no such path
 */
function parsePath(path: string): Step[] | undefined {
  const steps: Step[] = [];
  const token = /\.?([^.[\]"*]+)|\[(\d+)\]|\[(\*)\]|\.(\*)|\[("(?:[^"\\]|\\.)*")\]/y;
  let at = path.startsWith("$") ? 1 : 0;
  while (at < path.length) {
    token.lastIndex = at;
    const match = token.exec(path);
    if (match === null) return undefined;
    const [whole, key, index, star, dotStar, quoted] = match;
    if (key !== undefined) steps.push(key);
    else if (index !== undefined) steps.push(Number(index));
    else if (star !== undefined || dotStar !== undefined) steps.push(everyItem);
    else if (quoted !== undefined) steps.push(JSON.parse(quoted) as string);
    at += whole.length;
  }
  return steps;
}

/** What stands at a path; `[*]` gives a flat list of what stands at the rest of the path. Undefined: nothing there. */
export function select(value: unknown, path: string): unknown {
  const steps = parsePath(path);
  return steps && walk(value, steps);
}

function walk(value: unknown, steps: readonly Step[]): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (step === everyItem) {
    if (!Array.isArray(value)) return undefined;
    const found = value.map((item) => walk(item, rest)).filter((item) => item !== undefined);
    return rest.includes(everyItem) ? found.flat() : found;
  }
  if (Array.isArray(value))
    return typeof step === "number" || /^\d+$/.test(step) ? walk(value[Number(step)], rest) : undefined;
  return isRecord(value) && Object.hasOwn(value, step) ? walk(value[step], rest) : undefined;
}

/**
 * Parses JSON without rounding: an integer that a double cannot hold becomes a string of its digits, so that an id
 * reaches the model, and comes back from it, as the one that it is.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  if (!/\d{16}/.test(text)) return parsed;
  // The text is valid JSON, so every match is a whole string or a whole number.
  const quoted = text.replace(/"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
  return JSON.parse(quoted);
}
