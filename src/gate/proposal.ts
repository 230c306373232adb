import type { EvidenceDraft, Expire, OutcomeOf, Proposal, Propose, Slot, SlotState, Transition } from "./slot.js";

/** A second proposal never overwrites an unused first; only one that has lapsed makes room. */
export function propose(slot: Slot, { proposal }: Propose): Transition<OutcomeOf["propose"]> {
  const { current } = slot;
  if (current.state !== "empty" && !(current.state === "pending" && lapses(current.proposal, proposal.proposedAt))) {
    const repeated = current.state === "pending" && sameCall(current.proposal, proposal);
    return unchanged(slot, {
      kind: repeated && current.proposal.turn === proposal.turn ? "repeated" : "occupied",
      proposal: current.proposal,
    });
  }
  const { notice, args, expiresAt } = proposal;
  const evidence = [record("proposed", proposal, proposal.proposedAt, { notice, args, expiresAt }, proposal.turn)];
  if (current.state === "pending") evidence.unshift(record("expired", current.proposal, proposal.proposedAt));
  const { lapsed: _, ...rest } = slot;
  return {
    slot: { ...rest, current: { state: "pending", proposal, showings: [], reshown: 0 } },
    outcome: { kind: "proposed", proposal },
    evidence,
  };
}

/** An unused grant lapses too: past its time nothing begins to run. */
export function expire(slot: Slot, { at }: Expire): Transition<OutcomeOf["expire"]> {
  const { current } = slot;
  if ((current.state !== "pending" && current.state !== "granted") || !lapses(current.proposal, at)) {
    return unchanged(slot, { kind: "none" });
  }
  const { proposal } = current;
  return {
    slot: { ...slot, current: empty, lapsed: proposal },
    outcome: { kind: "expired", proposal },
    evidence: [record("expired", proposal, at)],
  };
}

export const empty: SlotState = { state: "empty" };

export function lapses(proposal: Proposal, at: number): boolean {
  return at >= proposal.expiresAt;
}

export function sameCall(
  one: { readonly tool: string; readonly fingerprint: string },
  other: { readonly tool: string; readonly fingerprint: string },
): boolean {
  return one.tool === other.tool && one.fingerprint === other.fingerprint;
}

export function unchanged<Outcome>(slot: Slot, outcome: Outcome): Transition<Outcome> {
  return { slot, outcome, evidence: [] };
}

export function record(
  type: EvidenceDraft["type"],
  proposal: Proposal,
  at: number,
  detail: EvidenceDraft["detail"] = {},
  turn?: string,
): EvidenceDraft {
  return {
    type,
    at,
    proposal: proposal.id,
    agent: proposal.agent,
    tool: proposal.tool,
    argsHash: proposal.fingerprint,
    ...(turn === undefined ? {} : { turn }),
    detail,
  };
}
