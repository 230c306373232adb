import type { CallLimit, Parameter } from "../spec/index.js";
import type { HttpCall } from "./http-tool.js";

/** `<slug with _>_<operation>`, in the characters that model providers take. */
export function toolName(slug: string, operation: string): string {
  return `${slug.replaceAll("-", "_")}_${operation.toLowerCase().replace(/[^a-z0-9_]/g, "_")}`;
}

/** Labels for the notice, where the manifest gives any. */
export function titlesOf(parameters: readonly Parameter[]): { argumentTitles?: Readonly<Record<string, string>> } {
  const titles = parameters.flatMap(({ name, title }) => (title === undefined ? [] : [[name, title] as const]));
  return titles.length === 0 ? {} : { argumentTitles: Object.fromEntries(titles) };
}

export function limitsOf(
  limits: readonly (readonly [key: string, limit: CallLimit | undefined])[],
): HttpCall["limits"] {
  return limits.flatMap(([key, limit]) => (limit ? [{ key, limit }] : []));
}
