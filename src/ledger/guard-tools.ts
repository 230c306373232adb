import { parseStrict } from "../canonical/index.js";
import { DaleError } from "../errors/index.js";
import { copyArguments } from "./arguments.js";
import type { CallVerdict } from "./check.js";

/** What a model is given instead of a result. */
export interface Refusal {
  readonly status: "refused";
  readonly executed: false;
  readonly reason: string;
  readonly message: string;
}

/** Judges a call before it is made. */
export type ToolCheck = (call: {
  readonly toolName: string;
  readonly args: unknown;
}) => Promise<CallVerdict & { readonly message?: string }>;

/** The part of an `ai` tool that is looked at; the rest stays as it is. */
interface ExecutableTool {
  execute?: unknown;
  toModelOutput?: unknown;
}

type Execute = (input: unknown, options: unknown) => unknown;

/**
 * Tools of `ai`, each asking first: a call that is not allowed does not reach the tool's own code, and the model is told
 * why. Tools without `execute` (the client's, the provider's) are not made here, and cannot be guarded.
 * @param tools by name
 * @throws DaleError `config_invalid` for what are none
 */
export function guardAiTools<Tools extends object>(tools: Tools, check: ToolCheck): Tools {
  if (!isObject(tools) || Array.isArray(tools)) {
    throw new DaleError("config_invalid", "guardTools takes an object of tools by name, as `ai` does.");
  }
  const guarded = Object.entries(tools).map(([name, tool]: [string, unknown]) => {
    if (!isObject(tool)) throw new DaleError("config_invalid", `guardTools takes tools, and "${name}" is none.`);
    const { execute, toModelOutput }: ExecutableTool = tool;
    if (typeof execute !== "function") return [name, tool] as const;
    const run = execute.bind(tool) as Execute;
    const wrapped = isGenerator(execute)
      ? async function* (input: unknown, options: unknown) {
          const call = settle(input);
          const refusal = await refusalOf(check, name, call.checked);
          if (refusal !== undefined) yield refusal;
          else yield* run(call.run, options) as AsyncIterable<unknown>;
        }
      : async (input: unknown, options: unknown) => {
          const call = settle(input);
          const refusal = await refusalOf(check, name, call.checked);
          return refusal ?? (await lastOf(run(call.run, options)));
        };
    return [name, { ...tool, execute: wrapped, ...withRefusals(tool, toModelOutput) }] as const;
  });
  return Object.fromEntries(guarded) as Tools;
}

/**
 * What is checked, and what runs: one copy, made before the check, so that nothing can change between them. What cannot be
 * copied runs as it is, and nothing that is tied to arguments fits it.
 */
function settle(input: unknown): { readonly checked: unknown; readonly run: unknown } {
  const copy = copyArguments(input);
  return copy === undefined ? { checked: unreadable, run: input } : { checked: copy.value, run: copy.value };
}

const unreadable = Symbol("unreadable");

/** A tool's own wording is for its own results. */
function withRefusals(tool: ExecutableTool, toModelOutput: unknown): { toModelOutput?: unknown } {
  if (typeof toModelOutput !== "function") return {};
  return {
    toModelOutput: (result: { readonly output: unknown }) =>
      isRefusal(result.output) ? { type: "json", value: result.output } : toModelOutput.call(tool, result),
  };
}

/** A function tool as the OpenAI client's `runTools` takes it. */
interface RunnableTool {
  readonly type?: unknown;
  readonly function?: unknown;
}

interface RunnableFunction {
  readonly name?: unknown;
  readonly function: (...args: unknown[]) => unknown;
}

/**
 * Tools of the OpenAI client's own loop (`client.chat.completions.runTools`), each asking first: a call that is not
 * allowed does not reach the app's function, and the model is told why.
 * @throws DaleError `config_invalid` for what is no list of tools
 */
export function guardRunnableTools<Tool extends object>(tools: readonly Tool[], check: ToolCheck): Tool[] {
  if (!Array.isArray(tools)) throw new DaleError("config_invalid", "guardOpenAITools takes a list of tools.");
  return tools.map((tool: Tool) => {
    if (!isObject(tool))
      throw new DaleError("config_invalid", "guardOpenAITools takes tools, and one of these is none.");
    const inner = (tool as RunnableTool).function;
    if (!isRunnable(inner)) return tool;
    const run = inner.function;
    const name = typeof inner.name === "string" && inner.name !== "" ? inner.name : run.name;
    const guarded = async (input: unknown, ...more: unknown[]) => {
      const call = typeof input === "string" ? { checked: parsed(input), run: input } : settle(input);
      const refusal = await refusalOf(check, name, call.checked);
      return refusal === undefined ? await run.call(inner, call.run, ...more) : JSON.stringify(refusal);
    };
    return { ...tool, function: { ...inner, name, function: guarded } };
  });
}

/** Arguments that come as text are JSON. What is none cannot be compared with anything. */
function parsed(text: string): unknown {
  const read = parseStrict(text.trim() === "" ? "{}" : text);
  return read.ok ? read.value : unreadable;
}

async function refusalOf(check: ToolCheck, toolName: string, args: unknown): Promise<Refusal | undefined> {
  const { allowed, reason = "no_match", message } = await check({ toolName, args });
  if (allowed) return undefined;
  return { status: "refused", executed: false, reason, message: message ?? refusedWords };
}

export const refusedWords =
  "This call was NOT made: it has to be confirmed first, and no confirmation fits it. Ask, and make it again afterwards.";

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isRefusal(output: unknown): output is Refusal {
  return (
    typeof output === "object" &&
    output !== null &&
    "status" in output &&
    output.status === "refused" &&
    "executed" in output &&
    output.executed === false
  );
}

function isGenerator(value: object): boolean {
  return Object.prototype.toString.call(value) === "[object AsyncGeneratorFunction]";
}

/** A tool that streams without being a generator: its last word is its result. */
async function lastOf(result: unknown): Promise<unknown> {
  const settled = await result;
  if (typeof settled !== "object" || settled === null || !(Symbol.asyncIterator in settled)) return settled;
  let last: unknown;
  for await (const each of settled as AsyncIterable<unknown>) last = each;
  return last;
}

function isRunnable(value: unknown): value is RunnableFunction {
  return typeof value === "object" && value !== null && "function" in value && typeof value.function === "function";
}
