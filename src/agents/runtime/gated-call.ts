import { type JsonObject, parseStrict } from "../../canonical/index.js";
import type { ConsumeOutcome, ExecutionResult, Proposal } from "../../gate/index.js";
import type { Tool } from "../tools/index.js";
import type { CheckedCall, Outcome, RuntimeContext } from "./context.js";
import {
  cut,
  failedExecution,
  nobodyToAsk,
  noticeTooLong,
  occupied,
  repetition,
  unknownExecution,
  waiting,
} from "./result-wording.js";
import type { Caller, RunState } from "./run-state.js";

/**
 * A call that needs the person's yes: it runs if the gate grants it right now, and otherwise it is proposed. What the
 * model says has no say in either.
 */
export async function performGated(
  context: RuntimeContext,
  state: RunState,
  caller: Caller,
  tool: Tool,
  call: CheckedCall,
): Promise<Outcome> {
  const consumed = await state.request.gate.consume(tool.name, call.fingerprint);
  return consumed.kind === "refused"
    ? await propose(state, caller, tool, call)
    : await performConsumed(context, state, consumed);
}

/** What a grant that was asked for comes to. */
export async function performConsumed(
  context: RuntimeContext,
  state: RunState,
  consumed: Exclude<ConsumeOutcome, { kind: "refused" }>,
): Promise<Outcome> {
  switch (consumed.kind) {
    case "run":
      return await execute(context, state, consumed.proposal, consumed.grant.at);
    case "repeat":
      state.writes.push({ tool: consumed.proposal.tool, status: consumed.result.status, gated: true });
      return { outcome: "repeat", content: repetition(consumed.result.content) };
    case "running":
      // Of an interrupted execution whoever asked for this run tells the person already.
      if (state.request.gate.interrupted?.proposal.id !== consumed.proposal.id) {
        state.writes.push({ tool: consumed.proposal.tool, status: "unknown", gated: true });
      }
      return { outcome: "unknown", content: unknownExecution(), code: "running" };
  }
}

/**
 * Makes the stored call, exactly as it was shown, with the tool of the agent that proposed it. The grant is used up by
 * now: whatever happens, this is never tried again. The agent's own time-out does not cut it off, only its tool's and
 * the loss of the job do: a write that was begun is better finished than left in doubt.
 */
async function execute(
  context: RuntimeContext,
  state: RunState,
  proposal: Proposal,
  grantedAt: number,
): Promise<Outcome> {
  const result = await call(context, state, proposal, grantedAt);
  state.writes.push({ tool: proposal.tool, status: result.status, gated: true });
  await settle(context, state, proposal, result);
  const code = result.code === undefined ? {} : { code: result.code };
  return { outcome: result.status, content: result.content, ...code };
}

async function call(
  context: RuntimeContext,
  state: RunState,
  proposal: Proposal,
  grantedAt: number,
): Promise<ExecutionResult & { readonly code?: string }> {
  const tool = context.toolsOf(proposal.agent)?.find((one) => one.name === proposal.tool);
  if (tool === undefined) {
    return { status: "failed", content: failedExecution("this tool does not exist any more"), code: "tool_gone" };
  }
  const args = storedArguments(proposal);
  const problem = args === undefined ? "its stored arguments cannot be read" : tool.check(args);
  if (args === undefined || problem !== undefined) {
    const content = failedExecution(problem ?? "its stored arguments cannot be read");
    return { status: "failed", content, code: "bad_arguments" };
  }
  const consents = [{ by: "person", ref: proposal.id, at: grantedAt }] as const;
  const refused = await context.guard({
    tool: tool.name,
    args,
    session: state.request.session,
    granted: true,
    consents,
  });
  if (refused !== undefined) return { status: "failed", content: failedExecution(refused.message), code: refused.code };
  const { signal, connections = {} } = state.request;
  if (signal.aborted) return { status: "failed", content: failedExecution("the run was stopped"), code: "aborted" };
  try {
    const result = await tool.call(args, { signal, idempotencyKey: proposal.id, connections });
    const content = cut(result.content, context.limits.resultLength);
    if (result.ok) return { status: "executed", content };
    if (result.uncertain) return { status: "unknown", content: unknownExecution(), code: result.code };
    return { status: "failed", content: failedExecution(content), code: result.code };
  } catch {
    return { status: "unknown", content: unknownExecution(), code: signal.aborted ? "aborted" : "unexpected" };
  }
}

function storedArguments(proposal: Proposal): JsonObject | undefined {
  const parsed = parseStrict(proposal.args);
  return parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Writes down how it ended. If that cannot be written, the run goes on with what it knows: the person is told the truth,
 * and the record says unknown, which an operator is asked to settle.
 */
async function settle(
  context: RuntimeContext,
  state: RunState,
  proposal: Proposal,
  result: ExecutionResult,
): Promise<void> {
  const { status, content } = result;
  for (let attempt = 1; ; attempt++) {
    try {
      return await state.request.gate.settle(proposal.id, { status, content });
    } catch {
      if (attempt === 3) break;
      await context.pause(attempt * 200);
    }
  }
  context.logger.error({ turn: state.request.turn, proposal: proposal.id }, "an execution's end could not be recorded");
}

async function propose(state: RunState, caller: Caller, tool: Tool, call: CheckedCall): Promise<Outcome> {
  if (!state.person) return { outcome: "refused", content: nobodyToAsk(), code: "nobody" };
  const outcome = await state.request.gate.propose({
    agent: caller.name,
    tool: tool.name,
    fingerprint: call.fingerprint,
    canonical: call.canonical,
    args: call.args,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(tool.argumentTitles === undefined ? {} : { argumentTitles: tool.argumentTitles }),
  });
  switch (outcome.kind) {
    case "proposed":
      state.pending = outcome.proposal;
      return { outcome: "waits", content: waiting(false) };
    case "repeated":
      state.pending = outcome.proposal;
      return { outcome: "repeat", content: waiting(true), code: "waits" };
    case "occupied":
      return { outcome: "refused", content: occupied(), code: "occupied" };
    case "refused":
      return outcome.reason === "nobody"
        ? { outcome: "refused", content: nobodyToAsk(), code: "nobody" }
        : { outcome: "refused", content: noticeTooLong(), code: "too_long" };
  }
}
