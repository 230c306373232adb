import type { JsonObject } from "../../canonical/index.js";
import type { CallLimit, Parameter } from "../spec/index.js";
import type { KeyedLimit } from "./rate-limit.js";

/** `<slug with _>_<operation>`: what the model sees. */
export function toolName(slug: string, operation: string): string {
  return `${slug.replaceAll("-", "_")}_${operation}`;
}

/** Labels for the notice, where the manifest gives any. */
export function titlesOf(parameters: readonly Parameter[]): { argumentTitles?: Readonly<Record<string, string>> } {
  const titles = parameters.flatMap(({ name, title }) => (title === undefined ? [] : [[name, title] as const]));
  return titles.length === 0 ? {} : { argumentTitles: Object.fromEntries(titles) };
}

/** Declared values of arguments that a call leaves out, in the manifest's order. */
export function defaultsOf(parameters: readonly Parameter[]): { defaults?: JsonObject } {
  const given = parameters.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value] as const]));
  return given.length === 0 ? {} : { defaults: Object.fromEntries(given) };
}

export function limitsOf(limits: readonly (readonly [key: string, limit: CallLimit | undefined])[]): KeyedLimit[] {
  return limits.flatMap(([key, limit]) => (limit ? [{ key, limit }] : []));
}
