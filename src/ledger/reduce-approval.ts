import type {
  Approval,
  ApprovalEvent,
  ApprovalEvidence,
  ApprovalRun,
  ApprovalState,
  ApprovalTransition,
} from "./approval-record.js";

/**
 * The state machine of an approval, whole and pure. Of two who decide at once, one does. An approval is used up before its
 * call is made; whatever happens then, the call is never made again.
 */
export function reduceApproval(approval: Approval, event: ApprovalEvent): ApprovalTransition {
  switch (event.type) {
    case "decide":
      return decide(approval, event);
    case "expire":
      return expire(approval, event);
    case "consume":
      return consume(approval, event);
    case "settle":
      return settle(approval, event);
    case "abandon":
      return abandon(approval, event.at);
  }
}

/**
 * What is recorded when a request is made.
 * @param shows the exact text that the reviewers see
 */
export function requestEvidence(approval: Approval, shows: string): ApprovalEvidence {
  const { args, origin, shown, requestedAt, expiresAt } = approval;
  return {
    type: "proposed",
    at: requestedAt,
    ...(origin.kind === "turn" ? { turn: origin.turn } : {}),
    detail: {
      approval: true,
      shows,
      args,
      expiresAt,
      ...(shown === "" ? {} : { told: shown }),
      ...(origin.kind === "turn" && origin.consent ? { confirmed: origin.consent.proposal } : {}),
    },
  };
}

type Of<Type extends ApprovalEvent["type"]> = Extract<ApprovalEvent, { type: Type }>;

function decide(approval: Approval, { outcome, reviewer, comment, at }: Of<"decide">): ApprovalTransition {
  if (approval.current.state !== "waiting") return unchanged(approval, "stale");
  if (at >= approval.expiresAt) return { ...lapse(approval, at, "nobody_decided"), outcome: "stale" };
  const decision = { id: approval.id, reviewer, comment, at };
  const detail = { approval: true, consent: "human_review", by: reviewer, comment };
  return to(approval, { state: outcome, decision }, "done", [
    outcome === "approved"
      ? { type: "granted", at, detail }
      : { type: "discarded", at, detail: { ...detail, reason: "rejected" } },
  ]);
}

function expire(approval: Approval, { withdrawn, at }: Of<"expire">): ApprovalTransition {
  const waits = approval.current.state === "waiting";
  if (!waits || !(withdrawn || at >= approval.expiresAt)) return unchanged(approval, "stale");
  return lapse(approval, at, withdrawn ? "withdrawn" : "nobody_decided");
}

function lapse(approval: Approval, at: number, reason: string): ApprovalTransition {
  const evidence: ApprovalEvidence = { type: "expired", at, detail: { approval: true, reason } };
  return to(approval, { state: "expired", at }, "done", [evidence]);
}

function consume(approval: Approval, { run, at }: Of<"consume">): ApprovalTransition {
  const { current } = approval;
  if (current.state === "approved" && approval.origin.kind === "turn") {
    const { decision } = current;
    return to(approval, { state: "executing", decision, run, since: at }, "run", [
      { type: "consumed", at, turn: run.turn, detail: { approval: true } },
    ]);
  }
  if (current.state !== "executing") return unchanged(approval, "stale");
  // The run that began it is gone, or could not know that its question was heard: nobody knows how far it came.
  if (current.run.fence < run.fence) return lose(approval, current, at, "run_interrupted");
  return unchanged(approval, "running");
}

function settle(approval: Approval, { run, result, at }: Of<"settle">): ApprovalTransition {
  const { current } = approval;
  const late = current.state === "settled" && current.result.status === "unknown" && result.status !== "unknown";
  if (current.state !== "executing" && !late) return unchanged(approval, "stale");
  if (!current.run || !sameRun(current.run, run)) return unchanged(approval, "stale");
  const { decision } = current;
  return to(approval, { state: "settled", decision, run, result, at }, "done", [
    {
      type: result.status,
      at,
      turn: run.turn,
      detail: { approval: true, result: result.content.slice(0, recordedResult), ...(late ? { late: true } : {}) },
    },
  ]);
}

/** Characters of a result that go on record. */
const recordedResult = 2000;

function abandon(approval: Approval, at: number): ApprovalTransition {
  const { current } = approval;
  if (current.state === "executing") return lose(approval, current, at, "turn_given_up");
  if (current.state !== "approved" || approval.origin.kind !== "turn") return unchanged(approval, "stale");
  const result = { status: "failed", content: "" } as const;
  return to(approval, { state: "settled", decision: current.decision, result, at }, "done", [
    { type: "failed", at, detail: { approval: true, reason: "turn_given_up" } },
  ]);
}

function lose(
  approval: Approval,
  { decision, run }: Extract<ApprovalState, { state: "executing" }>,
  at: number,
  reason: string,
): ApprovalTransition {
  const result = { status: "unknown", content: "" } as const;
  return to(approval, { state: "settled", decision, run, result, at }, "done", [
    { type: "unknown", at, turn: run.turn, detail: { approval: true, reason } },
  ]);
}

function sameRun(one: ApprovalRun, other: ApprovalRun): boolean {
  return one.turn === other.turn && one.fence === other.fence;
}

function to(
  approval: Approval,
  current: ApprovalState,
  outcome: ApprovalTransition["outcome"],
  evidence: readonly ApprovalEvidence[],
): ApprovalTransition {
  return { approval: { ...approval, current }, outcome, evidence };
}

function unchanged(approval: Approval, outcome: ApprovalTransition["outcome"]): ApprovalTransition {
  return { approval, outcome, evidence: [] };
}
