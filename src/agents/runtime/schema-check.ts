import { Ajv } from "ajv";
import type { JsonObject, JsonValue } from "../../canonical/index.js";

/**
 * A check of values against an agent's own JSON Schema. Nothing is coerced, filled in or fetched.
 * @returns a function that tells what is wrong, in words for the model; undefined when fine
 */
export function schemaCheck(schema: JsonObject): (value: JsonValue) => string | undefined {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false });
  const validate = ajv.compile(structuredClone(schema));
  return (value) => {
    if (validate(value) === true) return undefined;
    const faults = (validate.errors ?? []).slice(0, 5).map((fault) => {
      const at = fault.instancePath === "" ? "it" : fault.instancePath.slice(1).replaceAll("/", ".");
      return `${at} ${fault.message ?? "is not valid"}`;
    });
    return `${faults.join("; ")}.`;
  };
}
