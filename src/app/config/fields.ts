import { z } from "zod";

/**
 * Building blocks of dale.yaml's shape. A variable's value is text, so numbers and switches are taken as text too.
 * What a problem says to write is each field's `example`; the same examples stand in docs/configuration.md.
 */

export const text = (example: string) =>
  z
    .string()
    .meta({ example })
    .min(1)
    .regex(/^[^\r\n\0]*$/, { error: "must be one line" });

/** A value that must never be shown; without spaces at its ends, which are mistakes of copying. */
export const secret = (variable: string) =>
  text(envVar(variable)).regex(/^\S(.*\S)?$/, { error: "must not begin or end with a space" });

export const envVar = (name: string) => `$\{${name}}`;

export const slug = (example: string) =>
  z
    .string()
    .meta({ example })
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, {
      error: `must be lower-case letters, digits, “-” and “_”, 63 at most, for example ${example}`,
    });

export const whole = (min: number, max: number, example: number) =>
  z.preprocess(
    (value) => (typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value),
    z
      .int()
      .meta({ example: String(example) })
      .min(min)
      .max(max),
  );

const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `10m`, `3s`, `500ms`, `1h`, `30d` → milliseconds. */
export const duration = (minMs: number, maxMs: number, example: string) =>
  z
    .string({ error: `must be a duration with its unit (ms, s, m, h or d), for example ${example}` })
    .meta({ example })
    .transform((value, context) => {
      const [, amount, unit] = DURATION.exec(value.trim()) ?? [];
      const ms = Math.round(Number(amount) * (unitMs[unit ?? ""] ?? Number.NaN));
      if (ms >= minMs && ms <= maxMs) return ms;
      context.addIssue({
        code: "custom",
        message: Number.isNaN(ms)
          ? `must be a duration with its unit (ms, s, m, h or d), for example ${example}`
          : `must be from ${shown(minMs)} to ${shown(maxMs)}`,
      });
      return z.NEVER;
    });

function shown(ms: number): string {
  const unit = ["d", "h", "m", "s"].find((name) => ms > 0 && ms % (unitMs[name] ?? 1) === 0) ?? "ms";
  return `${ms / (unitMs[unit] ?? 1)}${unit}`;
}

/** `30/s`, `20/m`, `1000/h`, or `off`. */
export const rate = (example: string) =>
  z
    .string()
    .meta({ example })
    .transform((value, context) => {
      if (value === "off") return "off" as const;
      const [, count, unit] = /^(\d{1,7})\/(s|m|h)$/.exec(value.trim()) ?? [];
      if (count !== undefined && Number(count) > 0) return { count: Number(count), perMs: unitMs[unit ?? "s"] ?? 1000 };
      context.addIssue({ code: "custom", message: `must be a rate or off, for example ${example}` });
      return z.NEVER;
    });

export interface UrlRule {
  readonly protocols: readonly string[];
  /** Whether user and password may stand in it. Default false. */
  readonly credentials?: boolean;
  /** Loopback hosts only. Default false. */
  readonly loopback?: boolean;
}

/** @returns the URL as written, without slashes at its end */
export const url = (example: string, rule: UrlRule) =>
  z
    .string()
    .meta({ example })
    .refine((value) => fits(value, rule), { error: `must be ${wanted(rule)}, for example ${example}` })
    .transform((value) => value.replace(/\/+$/, ""));

function fits(value: string, rule: UrlRule): boolean {
  if (!URL.canParse(value) || /\s/.test(value)) return false;
  const parsed = new URL(value);
  if (!rule.protocols.includes(parsed.protocol) || parsed.hostname === "") return false;
  if (rule.credentials !== true && parsed.username + parsed.password + parsed.search + parsed.hash !== "") return false;
  return rule.loopback !== true || isLoopback(parsed.hostname);
}

function wanted({ protocols, credentials, loopback }: UrlRule): string {
  const schemes = protocols.map((protocol) => `${protocol}//`).join(" or ");
  const parts = credentials === true ? "" : " without user, query and fragment";
  return `a ${schemes} URL${loopback === true ? " of this machine (127.0.0.1, [::1] or localhost)" : parts}`;
}

/** 127.0.0.0/8, ::1 and localhost. A name that merely resolves to one of them is none. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  return bare === "localhost" || bare === "::1" || /^127(\.\d{1,3}){3}$/.test(bare);
}
