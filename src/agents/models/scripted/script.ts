import { z } from "zod";
import type { JsonValue } from "../../../canonical/index.js";
import { namesIn, parseTemplate, type Template } from "./expression.js";
import { plainText } from "./text.js";

const pattern = z.string().min(1);
const patterns = z.union([pattern, z.array(pattern).min(1)]);
const json: z.ZodType<JsonValue> = z.json();
const words = z.union([z.string(), z.record(z.string(), z.string())]);

const comparison = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.strictObject({ exists: z.boolean() }),
  z.strictObject({ above: z.number() }),
  z.strictObject({ below: z.number() }),
]);

const resultCondition = z.strictObject({ tool: z.string(), where: z.record(z.string(), comparison).default({}) });

const scriptFile = z.strictObject({
  apiVersion: z.literal("dale/v1"),
  kind: z.literal("Script"),
  metadata: z.strictObject({ name: z.string().min(1) }).optional(),
  spec: z.strictObject({
    languages: z
      .record(z.string(), z.strictObject({ locale: z.string(), words: z.array(z.string()) }))
      .refine((languages) => Object.keys(languages).length > 0, "name at least one language"),
    default_language: z.string(),
    capture: z
      .record(
        z.string().regex(/^[a-z_]\w*$/i),
        z.strictObject({ patterns: z.array(pattern).min(1), type: z.enum(["text", "int"]).default("text") }),
      )
      .default({}),
    recall: z.record(z.string().regex(/^[a-z_]\w*$/i), resultCondition).default({}),
    rules: z
      .array(
        z.strictObject({
          name: z.string().min(1),
          when: z
            .strictObject({
              user: patterns.optional(),
              said: patterns.optional(),
              note: z.union([z.string(), z.array(z.string())]).optional(),
              result: resultCondition.optional(),
              has: z.array(z.string()).optional(),
              lacks: z.array(z.string()).optional(),
              where: z.record(z.string(), comparison).optional(),
            })
            .default({}),
          say: words.optional(),
          call: z.array(z.strictObject({ tool: z.string(), args: z.record(z.string(), json) })).optional(),
        }),
      )
      .min(1),
  }),
});

type ScriptFile = z.infer<typeof scriptFile>;

export type Comparison = z.infer<typeof comparison>;
export interface ResultCondition {
  readonly tool: string;
  readonly where: readonly Condition[];
}
export interface Condition {
  readonly path: readonly string[];
  readonly is: Comparison;
}

export interface Rule {
  readonly name: string;
  readonly user: readonly RegExp[];
  readonly said: readonly RegExp[];
  readonly notes: readonly string[];
  readonly result?: ResultCondition;
  readonly has: readonly string[];
  readonly lacks: readonly string[];
  readonly where: readonly Condition[];
  /** By language. */
  readonly say: Readonly<Record<string, Template>>;
  readonly calls: readonly { readonly tool: string; readonly args: Readonly<Record<string, ArgumentTemplate>> }[];
}

/** JSON whose strings are templates. */
export type ArgumentTemplate =
  | { readonly template: Template }
  | { readonly value: JsonValue }
  | { readonly items: readonly ArgumentTemplate[] }
  | { readonly fields: Readonly<Record<string, ArgumentTemplate>> };

/** A scripted model's patterns and replies, checked and compiled. */
export interface Script {
  readonly languages: Readonly<Record<string, { readonly locale: string; readonly words: ReadonlySet<string> }>>;
  readonly defaultLanguage: string;
  readonly captures: readonly {
    readonly name: string;
    readonly patterns: readonly RegExp[];
    readonly type: "text" | "int";
  }[];
  readonly recalls: readonly { readonly name: string; readonly condition: ResultCondition }[];
  readonly rules: readonly Rule[];
}

export interface ScriptProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type ParsedScript =
  | { readonly ok: true; readonly script: Script }
  | { readonly ok: false; readonly problems: readonly ScriptProblem[] };

/** Checks a script's parsed YAML whole, and compiles it. Paths of problems are those of the file. */
export function parseScript(value: unknown): ParsedScript {
  const parsed = scriptFile.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => ({
      path: issue.path.filter((step) => typeof step !== "symbol"),
      message: issue.message,
    }));
    return { ok: false, problems };
  }
  const problems: ScriptProblem[] = [];
  const script = compile(parsed.data, problems);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, script };
}

/** Names that every rule can use: the language, and the result that the rule matched with its call's arguments. */
const BUILT_IN = ["language", "result", "args", "text"];

function compile(file: ScriptFile, problems: ScriptProblem[]): Script {
  const { languages, default_language: defaultLanguage, capture, recall, rules } = file.spec;
  const report = (path: readonly (string | number)[], message: string) => problems.push({ path, message });
  if (!Object.hasOwn(languages, defaultLanguage)) {
    report(["spec", "default_language"], `"${defaultLanguage}" is not one of the languages`);
  }

  const regexp = (source: string, path: readonly (string | number)[]): RegExp => {
    try {
      return new RegExp(source, "u");
    } catch (error) {
      report(path, `not a regular expression: ${error instanceof Error ? error.message : String(error)}`);
      return /(?!)/;
    }
  };
  const regexps = (source: string | readonly string[] | undefined, path: readonly (string | number)[]): RegExp[] => {
    if (source === undefined) return [];
    return typeof source === "string"
      ? [regexp(source, path)]
      : source.map((one, index) => regexp(one, [...path, index]));
  };
  const condition = (source: z.infer<typeof resultCondition>): ResultCondition => ({
    tool: source.tool,
    where: conditions(source.where),
  });

  const captures = Object.entries(capture).map(([name, { patterns: sources, type }]) => ({
    name,
    type,
    patterns: sources.map((source, index) => regexp(source, ["spec", "capture", name, "patterns", index])),
  }));
  const known = new Set([...BUILT_IN, ...Object.keys(capture), ...Object.keys(recall)]);

  const compiledRules = rules.map((rule, index): Rule => {
    const at = ["spec", "rules", index];
    const user = regexps(rule.when.user, [...at, "when", "user"]);
    const names = new Set([...known, ...user.flatMap(groupNames)]);
    const template = (source: string, path: readonly (string | number)[]): Template => {
      try {
        const parsed = parseTemplate(source);
        for (const name of namesIn(parsed)) {
          if (!names.has(name)) report(path, `nothing declares "${name}"; there are ${[...names].join(", ")}`);
        }
        return parsed;
      } catch (error) {
        report(path, error instanceof Error ? error.message : String(error));
        return [];
      }
    };
    for (const key of ["has", "lacks"] as const) {
      rule.when[key]?.forEach((name, place) => {
        if (!names.has(name.split(".")[0] ?? "")) report([...at, "when", key, place], `nothing declares "${name}"`);
      });
    }
    for (const path of Object.keys(rule.when.where ?? {})) {
      if (!names.has(path.split(".")[0] ?? "")) report([...at, "when", "where", path], `nothing declares "${path}"`);
    }
    const say: Record<string, Template> = {};
    if (typeof rule.say === "string") {
      const one = template(rule.say, [...at, "say"]);
      for (const language of Object.keys(languages)) say[language] = one;
    } else if (rule.say !== undefined) {
      for (const language of Object.keys(languages)) {
        const source = rule.say[language];
        if (source === undefined) report([...at, "say"], `no words for the language "${language}"`);
        else say[language] = template(source, [...at, "say", language]);
      }
    }
    if (rule.say === undefined && rule.call === undefined)
      report(at, "a rule says something, calls something, or both");
    return {
      name: rule.name,
      user,
      said: regexps(rule.when.said, [...at, "when", "said"]),
      notes: rule.when.note === undefined ? [] : [rule.when.note].flat(),
      ...(rule.when.result === undefined ? {} : { result: condition(rule.when.result) }),
      has: rule.when.has ?? [],
      lacks: rule.when.lacks ?? [],
      where: conditions(rule.when.where ?? {}),
      say,
      calls: (rule.call ?? []).map((call, place) => ({
        tool: call.tool,
        args: Object.fromEntries(
          Object.entries(call.args).map(([key, value]) => [
            key,
            argumentTemplate(value, (source) => template(source, [...at, "call", place, "args", key])),
          ]),
        ),
      })),
    };
  });

  return {
    languages: Object.fromEntries(
      Object.entries(languages).map(([name, language]) => [
        name,
        { locale: language.locale, words: new Set(language.words.map(plainText)) },
      ]),
    ),
    defaultLanguage,
    captures,
    recalls: Object.entries(recall).map(([name, source]) => ({ name, condition: condition(source) })),
    rules: compiledRules,
  };
}

function conditions(where: Readonly<Record<string, Comparison>>): readonly Condition[] {
  return Object.entries(where).map(([path, is]) => ({ path: path.split("."), is }));
}

function groupNames(expression: RegExp): readonly string[] {
  return [...expression.source.matchAll(/\(\?<([a-z_]\w*)>/gi)].map((match) => match[1] ?? "");
}

function argumentTemplate(value: JsonValue, template: (source: string) => Template): ArgumentTemplate {
  if (typeof value === "string") return { template: template(value) };
  if (typeof value !== "object" || value === null) return { value };
  if (Array.isArray(value)) return { items: value.map((item: JsonValue) => argumentTemplate(item, template)) };
  return {
    fields: Object.fromEntries(
      Object.entries(value).map(([key, item]: [string, JsonValue]) => [key, argumentTemplate(item, template)]),
    ),
  };
}
