import type { EvidenceEntry } from "../evidence/index.js";
import type { UnsettledExecution, UnsettledStore } from "../turns/index.js";

export type Verdict = Parameters<UnsettledStore["settle"]>[1];

/** An operator's word on how an execution ended that nobody saw end. `by` in its detail tells it from our own seeing. */
export function verdictEvidence(execution: UnsettledExecution, verdict: Verdict, id: string): EvidenceEntry {
  return {
    id,
    at: verdict.at,
    type: verdict.result === "executed" ? "executed" : "failed",
    session: execution.session,
    proposal: execution.proposal,
    agent: execution.agent,
    tool: execution.tool,
    argsHash: execution.argsHash,
    detail: { by: verdict.by, comment: verdict.comment, verdict: verdict.result },
  };
}
