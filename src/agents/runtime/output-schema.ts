import type { JsonObject, JsonValue } from "../../canonical/index.js";
import type { ModelNote } from "../models/index.js";

/** What is added to the system prompt of an agent that declares `output_schema`. */
export function outputInstruction(schema: JsonObject): string {
  return (
    "\n\nEnd your final answer with a code block marked json that holds one JSON value which fits this JSON Schema, and " +
    `nothing after it:\n${JSON.stringify(schema)}`
  );
}

/** The JSON in an answer: its last fenced block that parses, or the whole of it. */
export function extractData(answer: string): { readonly value: JsonValue } | undefined {
  const fenced = [...answer.matchAll(/```(?:json)?[ \t]*\n([\s\S]*?)\n?[ \t]*```/gi)].map((match) => match[1] ?? "");
  for (const text of [...fenced.reverse(), answer]) {
    try {
      return { value: JSON.parse(text) as JsonValue };
    } catch {
      // The next candidate may be JSON.
    }
  }
  return undefined;
}

/** What is wrong with the data of an answer; undefined when it fits. */
export function dataProblem(
  data: { readonly value: JsonValue } | undefined,
  check: (value: JsonValue) => string | undefined,
): string | undefined {
  return data === undefined ? "there is no JSON in it." : check(data.value);
}

export function repairNote(problem: string): ModelNote {
  return {
    kind: "schema",
    text: `Your last answer does not fit the JSON Schema: ${problem} Answer again, with a json block that fits.`,
  };
}
