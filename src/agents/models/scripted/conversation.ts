import type { JsonObject, JsonValue } from "../../../canonical/index.js";
import type { ModelMessage } from "../chat-model.js";
import { type Values, valueAt } from "./expression.js";
import type { Condition, ResultCondition, Script } from "./script.js";
import { plainText, wholeNumber } from "./text.js";

/** A call and what came of it, both as JSON where they are. */
export interface CallAndResult {
  readonly tool: string;
  readonly args: JsonValue;
  readonly result: JsonValue;
}

/** What a script's rules look at. It is read off the messages each time: the conversation is the only state there is. */
export interface ConversationView {
  /** The person's texts, newest first, as they wrote them. */
  readonly texts: readonly string[];
  /** What the agent said last before the person's newest text. */
  readonly said: string;
  /** Results since the model spoke last: empty when it is the person who spoke last. Newest first. */
  readonly fresh: readonly CallAndResult[];
  /** Every call with its result, newest first. */
  readonly all: readonly CallAndResult[];
}

export function viewConversation(messages: readonly ModelMessage[]): ConversationView {
  const calls = new Map<string, { readonly tool: string; readonly args: JsonValue }>();
  const texts: string[] = [];
  const all: CallAndResult[] = [];
  let fresh: CallAndResult[] = [];
  let spoken = "";
  let said = "";
  for (const message of messages) {
    if (message.role === "user") {
      texts.unshift(message.content);
      said = spoken;
      fresh = [];
    } else if (message.role === "assistant") {
      if (message.content !== "") spoken = message.content;
      for (const call of message.calls ?? []) {
        calls.set(call.id, { tool: call.tool, args: parseJson(call.argumentsText) });
      }
      fresh = [];
    } else {
      const call = calls.get(message.callId);
      const entry = { tool: message.tool, args: call?.args ?? null, result: parseJson(message.content) };
      all.unshift(entry);
      fresh.unshift(entry);
    }
  }
  return { texts, said, fresh, all };
}

/** What the person's newest text and the earlier calls give to the script's names. */
export function namedValues(script: Script, view: ConversationView): Values {
  const values: Record<string, JsonValue | undefined> = { text: view.texts[0] ?? "" };
  const text = plainText(view.texts[0] ?? "");
  for (const { name, patterns, type } of script.captures) {
    const value = captured(text, patterns, type);
    if (value !== undefined) values[name] = value;
  }
  for (const { name, condition } of script.recalls) {
    const found = view.all.find((entry) => fulfils(entry, condition));
    if (found !== undefined) values[name] = asValue(found);
  }
  return values;
}

export function asValue(entry: CallAndResult): JsonObject {
  return { args: entry.args, result: entry.result };
}

function captured(text: string, patterns: readonly RegExp[], type: "text" | "int"): JsonValue | undefined {
  for (const pattern of patterns) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const value = match.slice(1).find((group) => group !== undefined);
    if (value === undefined) continue;
    const typed = type === "int" ? wholeNumber(value) : value;
    if (typed !== undefined) return typed;
  }
  return undefined;
}

export function fulfils(entry: CallAndResult, condition: ResultCondition): boolean {
  return entry.tool === condition.tool && holds(asValue(entry), condition.where);
}

/** Whether every condition holds of the values. */
export function holds(values: Values, conditions: readonly Condition[]): boolean {
  return conditions.every(({ path, is }) => {
    const value = valueAt(values, path);
    if (typeof is !== "object" || is === null) return value === is;
    if ("exists" in is) return (value !== undefined && value !== null) === is.exists;
    if (typeof value !== "number") return false;
    return "above" in is ? value > is.above : value < is.below;
  });
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
