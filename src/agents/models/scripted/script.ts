import type { JsonValue } from "../../../canonical/index.js";
import type { Template } from "./expression.js";
import type { Comparison } from "./script-file.js";

/** A scripted model's patterns and replies, checked and compiled. */
export interface Script {
  readonly languages: Readonly<Record<string, { readonly locale: string; readonly words: ReadonlySet<string> }>>;
  readonly defaultLanguage: string;
  /** What the person's newest text may give a value to. */
  readonly captures: readonly {
    readonly name: string;
    readonly patterns: readonly RegExp[];
    readonly type: "text" | "int";
  }[];
  /** Names for the newest earlier call, with its result, that fulfils a condition. */
  readonly recalls: readonly { readonly name: string; readonly condition: ResultCondition }[];
  /** The first that fits gives the reply. */
  readonly rules: readonly Rule[];
}

export interface ResultCondition {
  readonly tool: string;
  /** Paths begin with `args` or `result`. */
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
  /** By language. Empty: it says nothing. */
  readonly say: Readonly<Record<string, Template>>;
  readonly calls: readonly { readonly tool: string; readonly args: Readonly<Record<string, ArgumentTemplate>> }[];
}

/** JSON whose strings are templates. */
export type ArgumentTemplate =
  | { readonly template: Template }
  | { readonly value: JsonValue }
  | { readonly items: readonly ArgumentTemplate[] }
  | { readonly fields: Readonly<Record<string, ArgumentTemplate>> };
