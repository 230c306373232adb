import { z } from "zod";
import type { JsonValue } from "../../../canonical/index.js";

/** The YAML of a scripted model, as it is written. Explained in docs/scripted-model.md. */
const pattern = z.string().min(1).meta({ example: "'how much does customer (\\d+) owe'" });
const patterns = z.union([pattern, z.array(pattern).min(1)]);
const json: z.ZodType<JsonValue> = z.json();
const name = z.string().regex(/^[a-z_][a-z0-9_]*$/, "must be lower case letters, digits and _: write for example debt");

const comparison = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.strictObject({ exists: z.boolean() }),
  z.strictObject({ above: z.number() }),
  z.strictObject({ below: z.number() }),
]);

const result = z.strictObject({
  tool: z.string().min(1).meta({ example: "praxis_buscar_records" }),
  where: z.record(z.string(), comparison).default({}),
});

const rule = z.strictObject({
  name: z.string().min(1).meta({ example: "asks a debt" }),
  when: z
    .strictObject({
      user: patterns.optional(),
      said: patterns.optional(),
      note: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
      result: result.optional(),
      has: z.array(z.string()).optional(),
      lacks: z.array(z.string()).optional(),
      where: z.record(z.string(), comparison).optional(),
    })
    .default({}),
  say: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  call: z
    .array(z.strictObject({ tool: z.string().min(1), args: z.record(z.string(), json).default({}) }))
    .min(1)
    .optional(),
});

export const scriptFile = z.strictObject({
  apiVersion: z.literal("dale/v1"),
  kind: z.literal("Script"),
  metadata: z.strictObject({ name: z.string().min(1) }).optional(),
  spec: z.strictObject({
    languages: z.record(name, z.strictObject({ locale: z.string().min(2), words: z.array(z.string()) })),
    default_language: z.string(),
    capture: z
      .record(
        name,
        z.strictObject({ patterns: z.array(pattern).min(1), type: z.enum(["text", "int"]).default("text") }),
      )
      .default({}),
    recall: z.record(name, result).default({}),
    rules: z.array(rule).min(1),
  }),
});

export type ScriptFile = z.output<typeof scriptFile>;
export type Comparison = z.output<typeof comparison>;
