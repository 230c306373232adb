import type { Approval, ApprovalEvent, ApprovalOutcome } from "./approval-record.js";

/**
 * Where approvals live. Every change is `reduceApproval`, applied by compare-and-set, with its evidence, in one script.
 * Contract suite: test/contracts/approval-store.ts. Every method throws DaleError `store_unavailable`.
 */
export interface ApprovalStore {
  /**
   * Puts a request before the reviewers; the same id once.
   * @returns `open`: another request for this very call of this session's turns is open already
   */
  request(approval: Approval): Promise<"requested" | "known" | "open">;
  read(id: string): Promise<Approval | undefined>;
  /** Undefined where nothing is known of it. */
  apply(id: string, event: ApprovalEvent): Promise<AppliedApproval | undefined>;
  /** Waiting ones, the oldest first; or those that were decided or have expired, the newest first. */
  list(state: "waiting" | "over", limit: number): Promise<readonly Approval[]>;
  /** Fingerprints of a session's calls that are parked, or approved and not made yet. */
  openOf(session: string): Promise<readonly string[]>;
  /** Ids of waiting ones whose time is over. */
  due(now: number, limit: number): Promise<readonly string[]>;
  /** Ids of a turn's requests that have been answered, and whose answer nobody has taken to its session yet. */
  answered(limit: number): Promise<readonly string[]>;
  /** The answer is on its way to its session, durably. */
  handedOver(id: string): Promise<void>;
}

export interface AppliedApproval {
  readonly outcome: ApprovalOutcome;
  /** As it is now. */
  readonly approval: Approval;
}
