import {
  canonicalize,
  digestId,
  fingerprint,
  isJsonObject,
  type JsonObject,
  parseStrict,
} from "../../canonical/index.js";
import type { ModelCall } from "../models/index.js";
import type { Tool } from "../tools/index.js";
import type { CheckedCall, Outcome, RuntimeContext } from "./context.js";
import { performGated } from "./gated-call.js";
import { parkCall } from "./parked-call.js";
import { performPropuesta } from "./propuestas.js";
import { cut, mistake, refusal } from "./result-wording.js";
import type { Caller, RunState } from "./run-state.js";

/** Calls another agent as a tool. Handed in, because it is the whole runtime again. */
export type AgentCaller = (caller: Caller, tool: Tool, args: JsonObject) => Promise<Outcome>;

/**
 * Makes one call of the model's, or says honestly why not. Never rejects for what a model or a tool does wrong; rejects
 * when the run is over (`turn_aborted`, `turn_timeout`) or the store is away (`store_unavailable`).
 */
export async function performCall(
  context: RuntimeContext,
  state: RunState,
  caller: Caller,
  call: ModelCall,
  callAgent: AgentCaller,
): Promise<Outcome> {
  caller.signal.throwIfAborted();
  const startedAt = context.now();
  const tool = caller.tools.get(call.tool);
  const checked = tool === undefined ? unknownTool(caller) : readCall(tool, call.argumentsText);
  const argsHash = "fingerprint" in checked ? checked.fingerprint : "";
  let outcome: Outcome;
  if (tool === undefined || "outcome" in checked) {
    outcome = "outcome" in checked ? checked : unknownTool(caller);
  } else if (state.begun >= context.limits.callsPerRun) {
    const message = "This call was NOT made: too many calls were made in this run. Answer with what you know.";
    outcome = { outcome: "refused", content: refusal("too_many_calls", message), code: "too_many_calls" };
  } else {
    state.begun++;
    outcome = await dispatch(context, state, caller, tool, checked, callAgent);
  }
  state.calls.push({
    tool: tool?.name ?? "unknown",
    argsHash,
    outcome: outcome.outcome,
    startedAt,
    ms: context.now() - startedAt,
    ...(caller.via.length === 0 ? {} : { via: caller.via }),
    ...(outcome.code === undefined ? {} : { code: outcome.code }),
  });
  return outcome;
}

async function dispatch(
  context: RuntimeContext,
  state: RunState,
  caller: Caller,
  tool: Tool,
  call: CheckedCall,
  callAgent: AgentCaller,
): Promise<Outcome> {
  if (tool.proposes !== undefined) return performPropuesta(context, state, caller, tool, tool.proposes, call);
  if (tool.needsConfirmation) return await performGated(context, state, caller, tool, call);
  const refused = await context.guard({
    tool: tool.name,
    args: call.args,
    session: state.request.session,
    granted: false,
  });
  if (refused?.awaitsApproval) return parkCall(context, state, caller, tool, call, refused);
  if (refused !== undefined) {
    return { outcome: "refused", content: refusal(refused.code, refused.message), code: refused.code };
  }
  caller.signal.throwIfAborted();
  return tool.kind === "agent"
    ? await callAgent(caller, tool, call.args)
    : await callPlain(context, state, caller, tool, call);
}

async function callPlain(
  context: RuntimeContext,
  state: RunState,
  caller: Caller,
  tool: Tool,
  call: CheckedCall,
): Promise<Outcome> {
  const { turn, connections = {} } = state.request;
  const idempotencyKey = digestId("call-", turn, tool.name, call.fingerprint, occurrenceOf(state, caller, call));
  try {
    const result = await tool.call(call.args, { signal: caller.signal, idempotencyKey, connections });
    const content = cut(result.content, context.limits.resultLength);
    if (tool.requiresApproval && (result.ok || result.uncertain)) {
      state.writes.push({ tool: tool.name, status: result.ok ? "executed" : "unknown", gated: false });
    }
    if (result.ok) return { outcome: "ok", content };
    const lost = result.uncertain && tool.requiresApproval;
    return {
      outcome: lost ? "unknown" : "error",
      content: mistake(result.code, content),
      code: result.code,
    };
  } catch {
    if (tool.requiresApproval) state.writes.push({ tool: tool.name, status: "unknown", gated: false });
    caller.signal.throwIfAborted();
    const message = "The tool failed in a way that it should not.";
    return { outcome: "error", content: mistake("unexpected", message), code: "unexpected" };
  }
}

/** Which of the turn's calls with these very arguments this is. A workflow's step is the same one however often it is tried. */
function occurrenceOf(state: RunState, caller: Caller, call: CheckedCall): string {
  if (caller.keyScope !== undefined) return caller.keyScope;
  const occurrence = (state.occurrences.get(call.fingerprint) ?? 0) + 1;
  state.occurrences.set(call.fingerprint, occurrence);
  return String(occurrence);
}

/** Arguments as they would run: read strictly from the model's own text, checked, canonical. */
function readCall(tool: Tool, argumentsText: string): CheckedCall | Outcome {
  const parsed = parseStrict(argumentsText.trim() === "" ? "{}" : argumentsText);
  if (!parsed.ok) return badArguments(`These arguments cannot be used: ${parsed.message} Nothing ran.`);
  if (!isJsonObject(parsed.value)) return badArguments("The arguments have to be one JSON object. Nothing ran.");
  const problem = tool.check(parsed.value);
  if (problem !== undefined) return badArguments(`${problem} Nothing ran.`);
  const args = withDefaults(parsed.value, tool.defaults);
  return { args, canonical: canonicalize(args), fingerprint: fingerprint(tool.name, args) };
}

/** The arguments in the order of the call, then the declared values of those that it left out. */
function withDefaults(args: JsonObject, defaults: JsonObject | undefined): JsonObject {
  if (defaults === undefined) return args;
  const missing = Object.entries(defaults).filter(([name]) => !Object.hasOwn(args, name));
  return missing.length === 0 ? args : { ...args, ...Object.fromEntries(missing) };
}

function badArguments(message: string): Outcome {
  return { outcome: "error", content: mistake("bad_arguments", message), code: "bad_arguments" };
}

function unknownTool(caller: Caller): Outcome {
  const names = [...caller.tools.keys()].join(", ");
  const message =
    names === "" ? "There is no such tool; there are none." : `There is no such tool. There are: ${names}.`;
  return { outcome: "error", content: mistake("unknown_tool", message), code: "unknown_tool" };
}
