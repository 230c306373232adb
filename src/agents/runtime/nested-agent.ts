import type { JsonObject } from "../../canonical/index.js";
import type { Tool } from "../tools/index.js";
import { isAgentTool, queryFor } from "./agent-tools.js";
import type { Outcome, RuntimeContext } from "./context.js";
import { mistake, refusal } from "./result-wording.js";
import type { Caller, RunState } from "./run-state.js";
import { codeOf, endsRun, type Work } from "./work.js";

/**
 * Another agent as a tool: a run of its own without history, in which nobody has said anything. It shares the session
 * and the gate, so that it may propose to the person in whose turn it runs, and use their yes; it cannot be one.
 */
export async function performAgent(
  context: RuntimeContext,
  work: Work,
  state: RunState,
  caller: Caller,
  tool: Tool,
  args: JsonObject,
): Promise<Outcome> {
  if (!isAgentTool(tool)) {
    return { outcome: "error", content: mistake("unknown_tool", "There is no such agent."), code: "unknown_tool" };
  }
  if (caller.depth >= context.limits.depth) {
    const message = `This call was NOT made: agents may call each other ${context.limits.depth} deep at most.`;
    return { outcome: "refused", content: refusal("too_deep", message), code: "too_deep" };
  }
  const before = { pending: state.pending?.id, writes: state.writes.length, parked: state.parked.length };
  const task = {
    agent: tool.runs,
    query: queryFor(args),
    via: [...caller.via, tool.runs],
    depth: caller.depth + 1,
    signal: caller.signal,
    until: caller.until,
  };
  try {
    const { answer, data } = await work(state, task);
    const facts = factsSince(state, before);
    if (facts === undefined && data === undefined) return { outcome: "ok", content: answer };
    return { outcome: "ok", content: JSON.stringify({ answer, ...(data === undefined ? {} : { data }), ...facts }) };
  } catch (error) {
    if (endsRun(error, caller.signal)) throw error;
    const code = codeOf(error);
    const message = "The agent failed and has no answer.";
    const content = JSON.stringify({ status: "error", reason: code, message, ...factsSince(state, before) });
    return { outcome: "error", content, code };
  }
}

/** What the other agent's run left behind, said by the runtime: its own answer may say anything. */
function factsSince(
  state: RunState,
  before: { readonly pending: string | undefined; readonly writes: number; readonly parked: number },
) {
  const { pending } = state;
  const waits = pending !== undefined && pending.id !== before.pending ? { waits: pending.tool } : {};
  const writes = state.writes.slice(before.writes).map(({ tool, status }) => ({ tool, status }));
  const parked = state.parked.slice(before.parked).map(({ tool }) => tool);
  const approval = parked.length === 0 ? {} : { waits_for_approval: parked };
  const facts = { ...waits, ...approval, ...(writes.length === 0 ? {} : { writes }) };
  if (Object.keys(facts).length === 0) return undefined;
  return { runtime: { ...facts, note: "What stands under waits has NOT run: the runtime asks the person for it." } };
}
