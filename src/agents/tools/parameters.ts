import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "../../canonical/index.js";
import { DaleError } from "../../errors/index.js";
import type { Parameter } from "../spec/index.js";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Faults named to the model at once: enough to correct a call, few enough to be read. */
const maxFaults = 5;
const options: Options = { strict: false, allErrors: true, validateFormats: false, logger: false };

/**
 * The JSON Schema that the model sees of declared parameters. Unknown arguments are refused; inside a parameter the
 * manifests' shorthand (`required: true` on a property) becomes JSON Schema's list.
 */
export function parameterSchema(parameters: readonly Parameter[]): JsonSchema {
  const required = parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name);
  return {
    type: "object",
    properties: Object.fromEntries(
      parameters.map(({ name, schema, default: given }) => [
        name,
        { ...expand(schema), ...(given !== undefined && { default: given }) },
      ]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/**
 * A foreign schema under which arguments that it does not name are refused, where it leaves that open. One that composes
 * other schemas is left as it is: there, names may be declared in several places.
 */
export function closed(schema: JsonSchema): JsonSchema {
  const open = [
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
  ];
  return open.some((keyword) => Object.hasOwn(schema, keyword)) ? schema : { ...schema, additionalProperties: false };
}

function expand(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { required, properties, items, ...rest } = schema;
  const listed = Array.isArray(required) ? required : [];
  const marked = isRecord(properties)
    ? Object.entries(properties).filter(([, nested]) => isRecord(nested) && nested.required === true)
    : [];
  const all = [...new Set([...listed, ...marked.map(([name]) => name)])];
  return {
    ...rest,
    ...(isRecord(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, nested]) => [name, isRecord(nested) ? expand(nested) : nested]),
      ),
    }),
    ...(items !== undefined && { items: isRecord(items) ? expand(items) : items }),
    ...(all.length > 0 && { required: all }),
  };
}

/**
 * Compiles a check of a call's arguments. Foreign schemas (an MCP server's) are taken as they are; nothing is fetched for
 * a `$ref`, nothing is coerced and no default is filled in.
 * @returns a function that tells what is wrong, in words for the model; undefined when fine
 * @throws DaleError `config_invalid` when the schema itself cannot be used
 */
export function argumentCheck(tool: string, schema: JsonSchema): (args: JsonObject) => string | undefined {
  const validate = compile(tool, schema);
  return (args) => {
    if (validate(args) === true) return undefined;
    const faults = [...new Set((validate.errors ?? []).map((fault) => describe(fault, schema)))];
    const shown = faults.slice(0, maxFaults).join("; ");
    return faults.length > maxFaults ? `${shown}; and ${faults.length - maxFaults} more` : shown || "not valid";
  };
}

function compile(tool: string, schema: JsonSchema): ValidateFunction {
  const { $id: _id, $schema: dialect, ...rest } = schema;
  if (rest.$async !== undefined) throw new DaleError("config_invalid", `${tool}: a schema may not be $async`);
  try {
    const recent = typeof dialect === "string" && /2019-09|2020-12/.test(dialect);
    return recent ? new Ajv2020(options).compile(rest) : new Ajv(options).compile(rest);
  } catch (cause) {
    throw new DaleError("config_invalid", `${tool}: its parameters are not a usable JSON Schema`, { cause });
  }
}

function describe(fault: ErrorObject, schema: JsonSchema): string {
  const where = fault.instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  const inside = where === "" ? "" : `${where}.`;
  switch (fault.keyword) {
    case "required":
      return `${inside}${String(fault.params.missingProperty)} is missing`;
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(fault.params.additionalProperty ?? fault.params.unevaluatedProperty).slice(0, 100);
      const known = isRecord(schema.properties) && where === "" ? Object.keys(schema.properties) : [];
      const list = known.length > 0 ? ` (there are: ${known.join(", ")})` : "";
      return `${inside}${name} is not a parameter${list}`;
    }
    case "enum": {
      const allowed: unknown = fault.params.allowedValues;
      return `${where || "the arguments"} must be one of ${JSON.stringify(allowed).slice(0, 500)}`;
    }
    default:
      return `${where || "the arguments"} ${fault.message ?? "is not valid"}`;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
