import { z } from "zod";
import { nearest } from "./nearest.js";
import type { Problem } from "./problem.js";
import type { Path, YamlFile } from "./yaml-file.js";

export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Checks a file (or the part of it at `at`) against a schema; each fault becomes a problem at the offending token.
 * Messages of the schema itself are predicates without a subject ("must be …: write …"), and hold no values.
 */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  yaml: YamlFile,
  value: unknown = yaml.value,
  at: Path = [],
): Checked<z.output<Schema>> {
  const knownKeys = new WeakMap<readonly string[], readonly string[]>();
  const result = schema.safeParse(value, {
    error: (issue) => {
      if (issue.code === "unrecognized_keys") knownKeys.set(issue.keys, keysOf(issue.inst));
      return isMissing(issue) ? MISSING + exampleOf(issue) : explain(issue);
    },
  });
  if (result.success) return { ok: true, value: result.data };
  const said = new Set<string>();
  return { ok: false, problems: result.error.issues.flatMap((issue) => describe(issue, at)) };

  function describe(issue: z.core.$ZodIssue, base: Path): Problem[] {
    const path = [...base, ...issue.path.map((step) => (typeof step === "symbol" ? String(step) : step))];
    if (issue.code === "unrecognized_keys") {
      const known = knownKeys.get(issue.keys) ?? [];
      return issue.keys.map((key) => yaml.problem([...path, key], unknownKey(key, known), { at: "key" }));
    }
    // One value, one problem: what else is wrong with it may be wrong because of the first.
    const place = JSON.stringify(path);
    if (said.has(place)) return [];
    // Of the forms that were possible, the one that the value has the outline of says what is wrong inside.
    const meant =
      issue.code === "invalid_union"
        ? issue.errors.find((inner) => inner.length > 0 && inner.every(({ path: below }) => below.length > 0))
        : undefined;
    if (meant !== undefined) return meant.flatMap((inner) => describe(inner, path));
    said.add(place);
    if (issue.code === "invalid_key")
      return [yaml.problem(path, issue.issues[0]?.message ?? "is no valid name", { at: "key" })];
    if (issue.message.startsWith(MISSING)) {
      const example = issue.message.slice(MISSING.length);
      const what = yaml.has(path) ? `${subject(path)} has no value` : `${subject(path)} is missing`;
      return [
        yaml.problem(path, example === "" ? what : `${what}: write for example ${keyed(path, example)}`, { at: "key" }),
      ];
    }
    return [yaml.problem(path, `${subject(path)} ${issue.message}`)];
  }
}

/** Begins the message of an issue whose value is not there; what follows it is an example. */
const MISSING = "\u0000";

function isMissing(issue: z.core.$ZodRawIssue): boolean {
  if (issue.code === "invalid_union" && issue.discriminator !== undefined)
    return typeof issue.input === "object" && issue.input !== null && !Object.hasOwn(issue.input, issue.discriminator);
  return (issue.code === "invalid_type" || issue.code === "invalid_value") && issue.input === undefined;
}

function exampleOf(issue: z.core.$ZodRawIssue): string {
  const schema = issue.schema ?? issue.inst;
  const example = schema instanceof z.ZodType ? z.globalRegistry.get(schema)?.example : undefined;
  if (typeof example === "string") return example;
  if (issue.code === "invalid_value") return String(issue.values[0] ?? "");
  if (issue.code === "invalid_union") return String(optionsOf(issue)[0] ?? "");
  return "";
}

const typeWords: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping (key: value)",
  record: "a mapping (key: value)",
  null: "null",
};

/** What is wrong and what to write, without a subject and without the value. */
function explain(issue: z.core.$ZodRawIssue): string | undefined {
  const example = exampleOf(issue);
  const hint = example === "" ? "" : `, for example ${example}`;
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeWords[issue.expected] ?? issue.expected}${hint}`;
    case "invalid_value":
      return oneOf(issue.values.map(String), issue.input);
    case "invalid_union":
      return optionsOf(issue).length > 0
        ? oneOf(optionsOf(issue), discriminatorOf(issue))
        : `has none of the forms that are allowed here${hint}`;
    case "too_small":
      return issue.origin === "string" || (issue.origin === "array" && issue.minimum === 1)
        ? `must not be empty${hint}`
        : `must be at least ${String(issue.minimum)}${issue.origin === "array" ? " entries" : ""}`;
    case "too_big":
      if (issue.origin === "string") return `must not be longer than ${String(issue.maximum)} characters`;
      return `must be at most ${String(issue.maximum)}${issue.origin === "array" ? " entries" : ""}`;
    case "not_multiple_of":
      return `must be a multiple of ${String(issue.divisor)}`;
    case "invalid_format":
      return `is not well formed${hint}`;
    default:
      return undefined;
  }
}

function optionsOf(issue: z.core.$ZodRawIssue): readonly string[] {
  const options: unknown = "options" in issue ? issue.options : undefined;
  return Array.isArray(options) ? options.map(String) : [];
}

function discriminatorOf(issue: z.core.$ZodRawIssue): unknown {
  const name: unknown = "discriminator" in issue ? issue.discriminator : undefined;
  if (typeof name !== "string" || typeof issue.input !== "object" || issue.input === null) return undefined;
  return Reflect.get(issue.input, name);
}

/** "must be a, b or c", with the nearest one where the value is close to one. */
export function oneOf(options: readonly string[], value: unknown): string {
  const close = typeof value === "string" && options.length > 1 ? nearest(value, options) : undefined;
  const list = options.length < 2 ? options.join("") : `${options.slice(0, -1).join(", ")} or ${options.at(-1)}`;
  return `must be ${list}${close === undefined ? "" : `: did you mean ${close}?`}`;
}

export function unknownKey(key: string, known: readonly string[]): string {
  const close = nearest(key, known);
  const named = isShowable(key) ? `unknown key "${key}"` : "unknown key";
  if (close !== undefined) return `${named}: did you mean "${close}"?`;
  return known.length === 0 ? `${named}: leave it out` : `${named}: the keys here are ${known.join(", ")}`;
}

/** A key is repeated only where it cannot be a token that lost its colon or its space. */
export function isShowable(word: string): boolean {
  return /^[A-Za-z][A-Za-z_-]{0,31}$/.test(word);
}

function keysOf(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function subject(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "the file";
  if (typeof last === "string") return isShowable(last) ? `"${last}"` : "this entry";
  const list = path.at(-2);
  return typeof list === "string" ? `entry ${last + 1} of "${list}"` : `entry ${last + 1}`;
}

function keyed(path: Path, example: string): string {
  const last = path.at(-1);
  return typeof last === "string" && isShowable(last) ? `${last}: ${example}` : example;
}
