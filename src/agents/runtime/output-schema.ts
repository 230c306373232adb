import type { JsonObject, JsonValue } from "../../canonical/index.js";
import type { ModelMessage, ModelNote } from "../models/index.js";
import { toolsShown } from "./react-loop.js";
import type { Frame } from "./run-state.js";
import { schemaCheck } from "./schema-check.js";
import type { Opening } from "./work.js";

/** What is added to the system prompt of an agent that declares `output_schema`. */
export function outputInstruction(schema: JsonObject): string {
  return (
    "\n\nEnd your final answer with a code block marked json that holds one JSON value which fits this JSON Schema, and " +
    `nothing after it:\n${JSON.stringify(schema)}`
  );
}

export interface FittedAnswer {
  readonly answer: string;
  readonly messages: readonly ModelMessage[];
  readonly data: { readonly value: JsonValue } | undefined;
}

/**
 * The final answer's data. Where it does not fit the schema the model is asked once more; what fits in neither is no
 * data, and the first answer stands: prose without its JSON is worth more than no answer.
 */
export async function fitSchema(
  frame: Frame,
  start: Opening & { readonly system: string },
  messages: readonly ModelMessage[],
  schema: JsonObject,
): Promise<FittedAnswer> {
  const last = messages.at(-1);
  const answer = last?.role === "assistant" ? last.content : "";
  const data = extractData(answer);
  const problem = problemOf(data, schema);
  if (problem === undefined) return { answer, messages, data };
  const reply = await frame.model.generate({
    system: start.system,
    notes: [...start.notes, repairNote(problem)],
    messages,
    // Some endpoints refuse a history with calls in it where no tools are given. None is called here.
    tools: toolsShown(frame),
    signal: frame.signal,
    until: frame.until,
  });
  const repaired = reply.text.trim();
  const second = extractData(repaired);
  if (repaired === "" || problemOf(second, schema) !== undefined) return { answer, messages, data: undefined };
  return { answer: repaired, messages: [...messages, { role: "assistant", content: repaired }], data: second };
}

/** The JSON in an answer: its last fenced block that parses, or the whole of it. */
function extractData(answer: string): { readonly value: JsonValue } | undefined {
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

/** Compiled once a schema: that costs more than a run. */
const checks = new WeakMap<JsonObject, (value: JsonValue) => string | undefined>();

function problemOf(data: { readonly value: JsonValue } | undefined, schema: JsonObject): string | undefined {
  if (data === undefined) return "there is no JSON in it.";
  const check = checks.get(schema) ?? schemaCheck(schema);
  checks.set(schema, check);
  return check(data.value);
}

function repairNote(problem: string): ModelNote {
  return {
    kind: "schema",
    text: `Your last answer does not fit the JSON Schema: ${problem} Answer again, with a json block that fits.`,
  };
}
