import { z } from "zod";
import type { JsonObject, JsonValue } from "./json.js";

/** Building blocks of the shapes. `example` is what a problem says to write; it is never a value of the file. */

export const text = (example: string) => z.string().meta({ example }).min(1);

/** How a file names an environment variable, for examples. */
export const variable = (name: string) => `$\{${name}}`;

/** Text that may be empty. */
export const anyText = () => z.string().meta({ example: '"…"' });

export const whole = (min: number, max: number, example: number) =>
  z
    .int()
    .meta({ example: String(example) })
    .min(min)
    .max(max);

export const decimal = (min: number, max: number, example: number) =>
  z
    .number()
    .meta({ example: String(example) })
    .min(min)
    .max(max);

export const flag = () => z.boolean().meta({ example: "true" });

export const json: z.ZodType<JsonValue> = z.lazy(() =>
  z.union([z.null(), z.boolean(), z.number(), z.string(), z.array(json), z.record(z.string(), json)]),
);

export const jsonObject = (example: string): z.ZodType<JsonObject> => z.record(z.string(), json).meta({ example });

const slugRule =
  "has to begin with a letter or digit and go on with lower-case letters, digits, “-” or “_”, 63 at most";

/** Names that become part of session ids, keys and URLs. */
export const slug = (example: string) =>
  z
    .string()
    .meta({ example })
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, { error: slugRule });

/** Names that models call or templates use. */
export const identifier = (example: string) =>
  z
    .string()
    .meta({ example })
    .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, {
      error: "has to begin with a letter and go on with letters, digits, “_” or “-”, 64 at most",
    });

/** An absolute http(s) URL without credentials, query or fragment. */
export const httpUrl = (example: string) =>
  z
    .string()
    .meta({ example })
    .refine((value) => isHttpUrl(value), {
      error: `must be an http:// or https:// URL without user, query and fragment, for example ${example}`,
    });

export function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return (protocol === "http:" || protocol === "https:") && username + password + search + hash === "";
}

/** A version, which YAML may have taken for a number. */
export const version = z.union([z.string(), z.number()]).meta({ example: "0.1.0" }).transform(String).default("0.1.0");

/** Header names as RFC 9110 has them. */
export const headerName = (example: string) =>
  z
    .string()
    .meta({ example })
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, { error: `must be the name of a header, for example ${example}` });

/** Seconds, as the files have them. */
export const seconds = (max: number, example: number) =>
  z
    .number()
    .meta({ example: String(example) })
    .gt(0, { error: "must be more than 0 (seconds)" })
    .max(max);

export const rateLimitShape = z
  .strictObject({
    requests_per_minute: whole(1, 1_000_000, 30).optional(),
    requests_per_second: whole(1, 1_000_000, 5).optional(),
    max_calls: whole(1, 1_000_000, 10).optional(),
    period_seconds: seconds(86_400, 60).optional(),
  })
  .meta({ example: "{ requests_per_minute: 30 }" })
  .refine(
    (limit) =>
      [limit.requests_per_minute, limit.requests_per_second, limit.max_calls].filter((count) => count !== undefined)
        .length === 1 && (limit.max_calls === undefined) === (limit.period_seconds === undefined),
    { error: "must be one limit: write { requests_per_minute: 30 } or { max_calls: 10, period_seconds: 60 }" },
  )
  .transform((limit) => {
    if (limit.requests_per_minute !== undefined) return { count: limit.requests_per_minute, perMs: 60_000 };
    if (limit.requests_per_second !== undefined) return { count: limit.requests_per_second, perMs: 1000 };
    return { count: limit.max_calls ?? 1, perMs: Math.round((limit.period_seconds ?? 1) * 1000) };
  });

/** Leaves out what is undefined, so that an optional field is absent and not there with nothing in it. */
export function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
