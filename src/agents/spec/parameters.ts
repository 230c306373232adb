import { z } from "zod";
import { anyText, flag, json, jsonObject, text, whole } from "./fields.js";
import type { JsonObject, JsonValue, ObjectSchema } from "./json.js";
import type { Parameter } from "./manifest-types.js";

const valueType = z.enum(["string", "integer", "number", "boolean", "array", "object", "null"]);

/** One declared parameter. Beside Dale's own keys it may hold the keywords of JSON Schema that describe one value. */
export const parameterShape = z
  .strictObject({
    type: valueType.default("string"),
    description: anyText().optional(),
    title: text("Amount").optional(),
    required: flag().default(false),
    default: json.optional(),
    enum: z.array(json).min(1).optional(),
    const: json.optional(),
    format: text("date").optional(),
    pattern: text("^[0-9]+$").optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    exclusiveMinimum: z.number().optional(),
    exclusiveMaximum: z.number().optional(),
    multipleOf: z.number().positive().optional(),
    minLength: whole(0, 1_000_000, 1).optional(),
    maxLength: whole(0, 1_000_000, 100).optional(),
    minItems: whole(0, 1_000_000, 1).optional(),
    maxItems: whole(0, 1_000_000, 100).optional(),
    uniqueItems: flag().optional(),
    items: jsonObject("{ type: string }").optional(),
    properties: jsonObject("{ id: { type: string } }").optional(),
    additionalProperties: z.union([z.boolean(), jsonObject("{ type: string }")]).optional(),
    examples: z.array(json).optional(),
  })
  .meta({ example: "{ type: string, required: true }" })
  .refine((parameter) => !(parameter.required && parameter.default !== undefined), {
    error: "is required and has a default: keep one of the two",
    path: ["default"],
  })
  .refine((parameter) => parameter.default === undefined || fits(parameter.default, parameter.type), {
    error: "must be of the parameter's own type",
    path: ["default"],
  });

export const parametersShape = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
      error: "a parameter's name has to begin with a letter and go on with letters, digits or “_”",
    }),
    parameterShape,
  )
  .default({});

export function buildParameters(shape: z.output<typeof parametersShape>): readonly Parameter[] {
  return Object.entries(shape).map(([name, declared]) => {
    const { required, title, default: fallback, ...schema } = declared;
    return {
      name,
      schema: dropUndefined(schema),
      required,
      ...(title === undefined ? {} : { title }),
      ...(fallback === undefined ? {} : { default: fallback }),
    };
  });
}

function dropUndefined(schema: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(schema)) if (value !== undefined) kept[key] = value;
  return kept;
}

function fits(value: JsonValue, type: z.output<typeof valueType>): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

/** Levels and bytes of a schema that a file may hold. */
const MAX_SCHEMA_DEPTH = 16;
const MAX_SCHEMA_BYTES = 16_384;

/**
 * JSON Schema of an object, either whole (`type: object`) or as shorthand (name → `{type, description, required}`),
 * which becomes a whole one.
 */
export const objectSchemaShape = jsonObject("{ type: object, properties: { … } }").transform((value, context) => {
  const problem = schemaFault(value);
  if (problem !== undefined) {
    context.addIssue({ code: "custom", message: problem });
    return z.NEVER;
  }
  return toObjectSchema(value);
});

function schemaFault(value: JsonObject): string | undefined {
  if (JSON.stringify(value).length > MAX_SCHEMA_BYTES) return "must not be larger than 16 KB";
  if (depthOf(value) > MAX_SCHEMA_DEPTH) return `must not be nested deeper than ${MAX_SCHEMA_DEPTH} levels`;
  if (typeof value.type === "string")
    return value.type === "object" ? undefined : "must describe an object: write { type: object, properties: { … } }";
  return Object.values(value).every(isObject)
    ? undefined
    : "must be a JSON Schema of an object, or name: { type, description, required } for each value";
}

function toObjectSchema(value: JsonObject): ObjectSchema {
  if (value.type === "object") return value;
  const required: string[] = [];
  const properties: Record<string, JsonValue> = {};
  for (const [name, declared] of Object.entries(value)) {
    const { required: isRequired, ...schema } = isObject(declared) ? declared : {};
    if (isRequired === true) required.push(name);
    properties[name] = { type: "string", ...schema };
  }
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
}

export const emptyObjectSchema: ObjectSchema = { type: "object", properties: {} };

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function depthOf(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
