import { digestId } from "../../canonical/index.js";
import type { ModelMessage } from "../models/index.js";
import type { Outcome, RuntimeContext } from "./context.js";
import { performConsumed } from "./gated-call.js";
import { decisionNotes, executedNote } from "./notes.js";
import { parkedCode } from "./parked-call.js";
import { refusal } from "./result-wording.js";
import type { Frame, RunState } from "./run-state.js";
import type { Opening } from "./work.js";

/**
 * What the outermost agent starts from: what was said before, the query, what became of a call that waited. Where the
 * person has just said yes and the runtime resumes, the call is made here, and stands in the messages with its result.
 */
export async function openTurn(context: RuntimeContext, state: RunState, frame: Frame): Promise<Opening> {
  const { request } = state;
  const { gate } = request;
  const decision = state.person ? gate.decision : undefined;
  const images = request.images ?? [];
  const shown = frame.model.seesImages === true && images.length > 0 ? { images } : {};
  const messages: ModelMessage[] = [...request.history, { role: "user", content: request.query, ...shown }];
  const notes = decisionNotes(decision, gate.interrupted, gate.resume);
  if (decision?.kind !== "granted" || gate.resume !== "runtime") return { messages, notes };

  const { proposal } = decision;
  frame.signal.throwIfAborted();
  const startedAt = context.now();
  const consumed = await gate.consume(proposal.tool, proposal.fingerprint);
  const outcome: Outcome =
    consumed.kind === "refused"
      ? { outcome: "refused", content: notRun(), code: "grant_gone" }
      : await performConsumed(context, state, consumed);
  state.calls.push({
    tool: proposal.tool,
    argsHash: proposal.fingerprint,
    outcome: outcome.outcome,
    startedAt,
    ms: context.now() - startedAt,
    ...(outcome.code === undefined ? {} : { code: outcome.code }),
  });
  const id = digestId("call-", proposal.id);
  const status =
    consumed.kind === "refused"
      ? "not_run"
      : outcome.code === parkedCode
        ? "parked"
        : (state.writes.at(-1)?.status ?? "unknown");
  return {
    messages: [
      ...messages,
      { role: "assistant", content: "", calls: [{ id, tool: proposal.tool, argumentsText: proposal.args }] },
      { role: "tool", callId: id, tool: proposal.tool, content: outcome.content },
    ],
    notes: [...notes, executedNote(proposal.tool, status)],
  };
}

function notRun(): string {
  return refusal("grant_gone", "The person confirmed this call, but it could not be run any more. It has NOT run.");
}
