import { empty, lapses, record, sameCall, unchanged } from "./proposal.js";
import type { Consume, EvidenceDraft, GrantResult, OutcomeOf, RunId, Settle, Slot, Transition } from "./slot.js";

/**
 * Uses a grant up, immediately before the call is made. Whoever gets `run` may make the call, nobody else and never
 * again. The same run that asks twice is told `running`: it cannot know that its first question was heard.
 */
export function consume(slot: Slot, event: Consume): Transition<OutcomeOf["consume"]> {
  const { current, decided, executed, lost } = slot;
  if (decided?.turn === event.run.turn && event.run.fence < decided.fence) return unchanged(slot, { kind: "refused" });
  if (current.state === "granted" && sameCall(current.proposal, event)) {
    const { proposal, grant } = current;
    if (lapses(proposal, event.at)) {
      return {
        slot: { ...slot, current: empty, lapsed: proposal },
        outcome: { kind: "refused" },
        evidence: [record("expired", proposal, event.at, { grant: grant.message }, event.run.turn)],
      };
    }
    return {
      slot: { ...slot, current: { state: "executing", proposal, grant, run: event.run, since: event.at } },
      outcome: { kind: "run", proposal, grant },
      evidence: [record("consumed", proposal, event.at, { grant: grant.message }, event.run.turn)],
    };
  }
  if (current.state === "executing" && sameCall(current.proposal, event)) {
    return unchanged(slot, { kind: "running", proposal: current.proposal });
  }
  if (executed && sameCall(executed.proposal, event) && concerns(executed, event.run.turn)) {
    return unchanged(slot, { kind: "repeat", proposal: executed.proposal, result: executed.result });
  }
  if (lost && sameCall(lost.proposal, event) && (concerns(lost, event.run.turn) || lost.toldTo === event.run.turn)) {
    return unchanged(slot, { kind: "running", proposal: lost.proposal });
  }
  return unchanged(slot, { kind: "refused" });
}

function concerns(
  execution: { readonly grant: { readonly turn: string }; readonly run: RunId },
  turn: string,
): boolean {
  return execution.grant.turn === turn || execution.run.turn === turn;
}

/** Only the run that consumed the grant says what came of it; once somebody declared it unknown, that is late. */
export function settle(slot: Slot, event: Settle): Transition<OutcomeOf["settle"]> {
  const { current, executed, lost } = slot;
  if (current.state === "executing" && isOf(current, event)) {
    const { proposal, grant, run } = current;
    return {
      slot: { ...slot, current: empty, executed: { proposal, grant, run, result: event.result } },
      outcome: { kind: "recorded" },
      evidence: [record(event.result.status, proposal, event.at, detailOf(event.result), run.turn)],
    };
  }
  if (executed && isOf(executed, event)) return unchanged(slot, { kind: "recorded" });
  if (!lost || !isOf(lost, event)) return unchanged(slot, { kind: "late" });
  const { lost: _, ...rest } = slot;
  const { proposal, grant, run } = lost;
  return {
    slot: { ...rest, executed: executed ?? { proposal, grant, run, result: event.result } },
    outcome: { kind: "late" },
    evidence: [record(event.result.status, proposal, event.at, { ...detailOf(event.result), late: true }, run.turn)],
  };
}

function isOf(execution: { readonly proposal: { readonly id: string }; readonly run: RunId }, event: Settle): boolean {
  return execution.proposal.id === event.proposal && sameRun(execution.run, event.run);
}

export function sameRun(one: RunId, other: RunId): boolean {
  return one.turn === other.turn && one.fence === other.fence;
}

/** Characters of a result that go on record. */
const recordedResult = 2000;

function detailOf(result: GrantResult): EvidenceDraft["detail"] {
  if (result.status === "parked") return { awaits: result.approval };
  const { content } = result;
  return content.length <= recordedResult
    ? { result: content }
    : { result: content.slice(0, recordedResult), resultLength: content.length };
}
