import { sameRun } from "./execution.js";
import { judge } from "./judge.js";
import { empty, record, unchanged } from "./proposal.js";
import type {
  EndTurn,
  EvidenceDraft,
  HumanMessage,
  Interrupted,
  OutcomeOf,
  Retract,
  RunId,
  Slot,
  Surroundings,
  Transition,
  TurnBegins,
} from "./slot.js";

/**
 * A person's message: settles what earlier runs left behind, then decides. Every run of one turn is told the same
 * decision, and a run that was overtaken decides nothing.
 */
export function humanMessage(
  slot: Slot,
  event: HumanMessage,
  surroundings: Surroundings,
): Transition<OutcomeOf["humanMessage"]> {
  const { run, at } = event;
  const { decided } = slot;
  if (decided && run.fence < decided.fence) {
    return unchanged(slot, decided.turn === run.turn ? decided.outcome : { kind: "none" });
  }
  const settled = settleEarlierRuns(slot, run, at);
  if (decided?.turn === run.turn) {
    const { outcome } = decided;
    const again =
      decided.fence === run.fence ? settled.slot : { ...settled.slot, decided: { ...decided, fence: run.fence } };
    return {
      slot: again,
      outcome: settled.interrupted ? { ...outcome, interrupted: settled.interrupted } : outcome,
      evidence: settled.evidence,
    };
  }
  const cleared = withdrawGrant(settled.slot, at);
  const { executed: _, lapsed, ...rest } = cleared.slot;
  const judged =
    rest.current.state === "pending"
      ? judge(rest.current, heard(slot, event), surroundings)
      : {
          current: rest.current,
          outcome: lapsed ? ({ kind: "expired", proposal: lapsed } as const) : ({ kind: "none" } as const),
          evidence: [],
        };
  return {
    slot: { ...rest, current: judged.current, decided: { turn: run.turn, fence: run.fence, outcome: judged.outcome } },
    outcome: settled.interrupted ? { ...judged.outcome, interrupted: settled.interrupted } : judged.outcome,
    evidence: [...settled.evidence, ...cleared.evidence, ...judged.evidence],
  };
}

/** Words that were taken back before they were decided on are not typed ones. */
function heard(slot: Slot, event: HumanMessage): HumanMessage {
  if (!slot.retracted?.includes(event.run.turn)) return event;
  return { ...event, facts: { ...event.facts, words: null } };
}

/** A run that no person wrote may use a grant; it never gives or closes one. */
export function beginTurn(slot: Slot, { run, at }: TurnBegins): Transition<OutcomeOf["turnBegins"]> {
  const settled = settleEarlierRuns(slot, run, at);
  return {
    slot: settled.slot,
    outcome: settled.interrupted ? { kind: "none", interrupted: settled.interrupted } : { kind: "none" },
    evidence: settled.evidence,
  };
}

/**
 * An unused grant ends with its turn, and so does the memory of an execution. Of a run that raised, nothing that
 * nobody was shown survives; its execution is remembered for the retry.
 */
export function endTurn(slot: Slot, { turn, failed, at }: EndTurn): Transition<OutcomeOf["endTurn"]> {
  let next = slot;
  const evidence: EvidenceDraft[] = [];
  const { current } = slot;
  if (current.state === "granted" && current.grant.turn === turn) {
    next = { ...next, current: empty };
    evidence.push(record("withdrawn", current.proposal, at, { reason: "unused_grant" }, turn));
  }
  if (current.state === "pending" && current.proposal.turn === turn && failed && current.showings.length === 0) {
    next = { ...next, current: empty };
    evidence.push(record("withdrawn", current.proposal, at, { reason: "run_failed" }, turn));
  }
  if (current.state === "executing" && current.run.turn === turn) {
    const { proposal, grant, run } = current;
    next = { ...next, current: empty, lost: { proposal, grant, run } };
    evidence.push(record("unknown", proposal, at, { reason: "turn_ended" }, turn));
  }
  if (next.executed?.run.turn === turn && !failed) {
    const { executed: _, ...rest } = next;
    next = rest;
  }
  return { slot: next, outcome: { kind: "ended" }, evidence };
}

/** Retractions that are remembered: a person takes back what they have just written. */
const mostRetracted = 20;

/** A grant that was not used ends with the words that gave it; what runs already is not called back. */
export function retract(slot: Slot, { turn, at }: Retract): Transition<OutcomeOf["retract"]> {
  const { current, retracted = [] } = slot;
  if (retracted.includes(turn)) return unchanged(slot, { kind: "recorded" });
  const next = { ...slot, retracted: [...retracted, turn].slice(-mostRetracted) };
  if (current.state !== "granted" || current.grant.turn !== turn) {
    return { slot: next, outcome: { kind: "recorded" }, evidence: [] };
  }
  return {
    slot: { ...next, current: empty },
    outcome: { kind: "recorded" },
    evidence: [record("withdrawn", current.proposal, at, { reason: "retracted" }, turn)],
  };
}

interface Settled {
  readonly slot: Slot;
  readonly evidence: readonly EvidenceDraft[];
  readonly interrupted?: Interrupted;
}

/** An execution of another run is over, one way or the other: it is unknown, and told to the turn that finds it. */
function settleEarlierRuns(slot: Slot, run: RunId, at: number): Settled {
  const { current } = slot;
  if (current.state === "executing" && !sameRun(current.run, run) && current.run.fence <= run.fence) {
    const { proposal, grant } = current;
    return {
      slot: { ...slot, current: empty, lost: { proposal, grant, run: current.run, toldTo: run.turn } },
      evidence: [record("unknown", proposal, at, { reason: "run_interrupted" }, run.turn)],
      interrupted: { proposal, grant },
    };
  }
  const told = tellLost(slot, run);
  const earlierRun = slot.decided?.turn !== run.turn || slot.decided.fence < run.fence;
  if (
    current.state === "pending" &&
    current.proposal.turn === run.turn &&
    current.showings.length === 0 &&
    earlierRun
  ) {
    return {
      ...told,
      slot: { ...told.slot, current: empty },
      evidence: [record("withdrawn", current.proposal, at, { reason: "run_repeated" }, run.turn)],
    };
  }
  return told;
}

function tellLost(slot: Slot, run: RunId): Settled {
  const { lost } = slot;
  if (!lost || (lost.toldTo !== undefined && lost.toldTo !== run.turn)) return { slot, evidence: [] };
  const interrupted = { proposal: lost.proposal, grant: lost.grant };
  if (lost.toldTo === run.turn) return { slot, evidence: [], interrupted };
  return { slot: { ...slot, lost: { ...lost, toldTo: run.turn } }, evidence: [], interrupted };
}

/** A grant that its turn left behind (it died before `endTurn`). */
function withdrawGrant(slot: Slot, at: number): { readonly slot: Slot; readonly evidence: readonly EvidenceDraft[] } {
  const { current } = slot;
  if (current.state !== "granted") return { slot, evidence: [] };
  return {
    slot: { ...slot, current: empty },
    evidence: [record("withdrawn", current.proposal, at, { reason: "unused_grant" }, current.grant.turn)],
  };
}
