import { type JsonObject, parseStrict } from "../../canonical/index.js";
import type { ConsumeOutcome, GrantResult, Proposal } from "../../gate/index.js";
import type { Tool } from "../tools/index.js";
import type { CheckedCall, Outcome, RuntimeContext } from "./context.js";
import { approvalId, park, titled } from "./parked-call.js";
import { nobodyToAsk, noticeTooLong, occupied, repetition, unknownExecution, waiting } from "./result-wording.js";
import type { Caller, RunState } from "./run-state.js";
import { performStored } from "./stored-call.js";

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
    case "repeat": {
      const { proposal, result } = consumed;
      // A run before this one had parked it, and did not live to say so.
      const parked = result.status === "parked" ? parkProposal(context, state, proposal) : undefined;
      if (parked !== undefined) return parked;
      const status = result.status === "parked" ? "failed" : result.status;
      state.writes.push({ tool: proposal.tool, status, gated: true });
      return { outcome: "repeat", content: repetition(result.content) };
    }
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
  const { session, signal, connections = {} } = state.request;
  const consents = [{ by: "person", ref: proposal.id, at: grantedAt }] as const;
  const result = await performStored(
    context,
    { ...proposal, consents },
    { session, signal, connections, granted: true },
  );
  const parked = result.awaitsApproval ? parkProposal(context, state, proposal) : undefined;
  if (parked !== undefined) {
    const approval = approvalId(state.request, proposal.fingerprint);
    await settle(context, state, proposal, { status: "parked", content: parked.content, approval });
    return parked;
  }
  const { status, content } = result;
  state.writes.push({ tool: proposal.tool, status, gated: true });
  await settle(context, state, proposal, { status, content });
  const code = result.code === undefined ? {} : { code: result.code };
  return { outcome: status, content, ...code };
}

/** The person has said yes, and somebody else has to as well: their yes goes with the call. */
function parkProposal(context: RuntimeContext, state: RunState, proposal: Proposal): Outcome | undefined {
  const tool = context.toolsOf(proposal.agent)?.find((one) => one.name === proposal.tool);
  const parsed = parseStrict(proposal.args);
  if (tool === undefined || !parsed.ok) return undefined;
  const { agent, fingerprint, args: canonical } = proposal;
  const args = parsed.value as JsonObject;
  return park(context, state, { agent, ...titled(tool), fingerprint, canonical, args, proposal: proposal.id });
}

/**
 * Writes down how it ended. If that cannot be written, the run goes on with what it knows: the person is told the truth,
 * and the record says unknown, which an operator is asked to settle.
 */
async function settle(
  context: RuntimeContext,
  state: RunState,
  proposal: Proposal,
  result: GrantResult,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await state.request.gate.settle(proposal.id, result);
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
