/**
 * `${NAME}` and `${NAME:-default}` in a file's values; `$${` stands for a literal `${`.
 *
 * Braces end a plain scalar inside `{ … }`, so variables are masked before the text is parsed (same length, so places
 * stay true) and replaced in the parsed scalars after it. What a variable holds is never parsed as YAML.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

const DOLLAR = "\ue000";
const OPEN = "\ue001";
const CLOSE = "\ue002";
const DROPPED = "\ue003";
const LITERAL_OPEN = "\ue004";
const LITERAL_CLOSE = "\ue005";

/** Characters that a file with variables cannot hold itself. */
export const RESERVED = /[\ue000-\ue005]/;

export function maskVariables(text: string): string {
  return text.replace(
    /\$(\$\{(?:([^}\n]*)\})?)|\$\{([A-Za-z_][A-Za-z0-9_]*(?::-[^}\n]*)?)\}/g,
    (match, escaped: string | undefined, inner: string | undefined, variable: string | undefined) => {
      if (variable !== undefined) return `${DOLLAR}${OPEN}${variable}${CLOSE}`;
      if (escaped === undefined) return match;
      return `${DROPPED}$${LITERAL_OPEN}${inner === undefined ? "" : `${inner}${LITERAL_CLOSE}`}`;
    },
  );
}

export function hasVariable(masked: string): boolean {
  return masked.includes(DOLLAR);
}

/** A `${` that names no variable, e.g. `${1X}` or one that is not closed. */
export function hasStrayOpening(masked: string): boolean {
  return masked.includes("${");
}

/** @param onMissing called with the name of each variable that is not set and has no default, in order */
export function expandVariables(masked: string, env: Environment, onMissing: (name: string) => void): string {
  return masked
    .replace(
      /\ue000\ue001([A-Za-z_][A-Za-z0-9_]*)(?::-([^\ue002]*))?\ue002/g,
      (_match, name: string, fallback?: string) => {
        const value = env[name];
        if (fallback !== undefined && (value === undefined || value === "")) return fallback;
        if (value === undefined) onMissing(name);
        return value ?? "";
      },
    )
    .replaceAll(DROPPED, "")
    .replaceAll(LITERAL_OPEN, "{")
    .replaceAll(LITERAL_CLOSE, "}");
}

/** Where the variables of a slice of masked text begin: offsets from its start, in order. */
export function variableOffsets(masked: string): { readonly name: string; readonly offset: number }[] {
  return [...masked.matchAll(/\ue000\ue001([A-Za-z_][A-Za-z0-9_]*)/g)].map((match) => ({
    name: match[1] ?? "",
    offset: match.index,
  }));
}
