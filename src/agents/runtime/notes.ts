import type { HumanOutcome, Interrupted, Proposal } from "../../gate/index.js";
import type { ModelNote } from "../models/index.js";

/** What the model is told at the start of a turn of what became of a waiting call. Fixed words; never the person's. */
export function decisionNotes(
  decision: HumanOutcome | undefined,
  interrupted: Interrupted | undefined,
  resume: "runtime" | "model",
): readonly ModelNote[] {
  const notes: ModelNote[] = [];
  if (interrupted !== undefined) notes.push(interruptedNote(interrupted.proposal));
  switch (decision?.kind) {
    case "granted":
      if (resume === "model") notes.push(grantedNote(decision.proposal));
      break;
    case "discarded":
      notes.push({
        kind: "discarded",
        tool: decision.proposal.tool,
        text:
          `The call of ${decision.proposal.tool} that waited for a confirmation is discarded and did not run: what the ` +
          "person wrote now is not a confirmation. If it is still wanted, with these or other arguments, make the call " +
          "anew; it will be shown to the person again.",
      });
      break;
    case "expired":
      notes.push({
        kind: "expired",
        tool: decision.proposal.tool,
        text:
          `The call of ${decision.proposal.tool} that waited for a confirmation has lapsed and did not run: the person ` +
          "took too long to answer. Whatever they write now confirms nothing. If it is still wanted, make the call anew.",
      });
      break;
    case "unseen":
      notes.push({
        kind: "unseen",
        tool: decision.proposal.tool,
        text:
          `The call of ${decision.proposal.tool} that waited for a confirmation is given up and did not run: it could ` +
          "not be shown to the person. Say so; if it is still wanted, make the call anew.",
      });
      break;
    default:
      break;
  }
  return notes;
}

/** `gate.resume: model`: which call exactly may be made now. */
function grantedNote(proposal: Proposal): ModelNote {
  return {
    kind: "granted",
    tool: proposal.tool,
    text:
      `The person has just confirmed exactly this call: ${proposal.tool} with the arguments ${proposal.args}. It has not ` +
      "run yet. Make it now, with exactly these arguments; with any other it would have to be confirmed again.",
  };
}

/** `gate.resume: runtime`: the call was made, and its result stands in the messages. */
export function executedNote(
  tool: string,
  status: "executed" | "failed" | "unknown" | "not_run" | "parked",
): ModelNote {
  const what = {
    executed: "and the runtime has executed it. Its result is the last tool result; tell the person the outcome.",
    failed: "but it failed and was not executed. The last tool result says why; tell the person.",
    unknown: "and it was begun, but nobody knows whether it was executed. It is not repeated; tell the person so.",
    parked: "but somebody else has to approve it before it runs. It has NOT run; the runtime tells the person so.",
    not_run: "but it could not be run any more and did not run. Tell the person.",
  }[status];
  return {
    kind: "executed",
    tool,
    text: `The person has confirmed the call of ${tool}, ${what} Do not make it again.`,
  };
}

function interruptedNote(proposal: Proposal): ModelNote {
  return {
    kind: "interrupted",
    tool: proposal.tool,
    text:
      `An earlier call of ${proposal.tool}, which the person had confirmed, was cut off in the middle: nobody knows whether ` +
      "it was executed. It is not repeated. The runtime tells the person so; do not claim that it was or was not done, " +
      "and do not make it again unless the person asks for it anew.",
  };
}

export const lastStepNote: ModelNote = {
  kind: "last_step",
  text: "This is the last step of this turn: no tool can be called any more. Answer the person now with what you know, and say what could not be done.",
};
