import type { JsonObject } from "../canonical/index.js";
import type { ApprovalDecision } from "./approval.js";

/** One run of a turn, as the queue counts them: a later run has the larger fence. */
export interface ApprovalRun {
  readonly turn: string;
  readonly fence: number;
}

/** `failed`: surely not executed. `unknown`: nobody knows, and it is never repeated. */
export interface ApprovalResult {
  readonly status: "executed" | "failed" | "unknown";
  readonly content: string;
}

/**
 * A request is `waiting` until somebody decides, or its time is over. An app's own ends there. One that was parked by a
 * turn is used up (`executing`) before its call is made, and `settled` after.
 */
export type ApprovalState =
  | { readonly state: "waiting" }
  | { readonly state: "approved" | "rejected"; readonly decision: ApprovalDecision }
  | { readonly state: "expired"; readonly at: number }
  | {
      readonly state: "executing";
      readonly decision: ApprovalDecision;
      readonly run: ApprovalRun;
      readonly since: number;
    }
  | {
      readonly state: "settled";
      readonly decision: ApprovalDecision;
      /** Absent where it was given up before it was used. */
      readonly run?: ApprovalRun;
      readonly result: ApprovalResult;
      readonly at: number;
    };

/** Where a request came from, and so what its answer leads to. */
export type ApprovalOrigin =
  /** An app that waits for it (`awaitApproval`), and makes its call itself. */
  | { readonly kind: "app" }
  /** A turn that ended with the call parked: a turn of its own makes it, and tells the person. */
  | {
      readonly kind: "turn";
      readonly turn: string;
      /** The agent that answers in this session. */
      readonly agent: string;
      /** Where the person is told: for whoever runs turns. */
      readonly place: JsonObject;
      /** The person's own yes, where the call is gated as well. */
      readonly consent?: { readonly proposal: string; readonly at: number };
    };

export interface Approval {
  readonly version: 1;
  readonly id: string;
  readonly session: string;
  /** Whose tool it is; empty for an app's own. */
  readonly agent: string;
  readonly tool: string;
  /** Canonical text: exactly what will run. */
  readonly args: string;
  readonly fingerprint: string;
  /** The call as the person was shown it; empty for an app's own. */
  readonly shown: string;
  readonly origin: ApprovalOrigin;
  /** Ms since 1970. */
  readonly requestedAt: number;
  /** From then on nobody can decide any more. */
  readonly expiresAt: number;
  readonly current: ApprovalState;
}

export type ApprovalEvent =
  | {
      readonly type: "decide";
      readonly outcome: "approved" | "rejected";
      readonly reviewer: string;
      readonly comment: string;
      readonly at: number;
    }
  /** `withdrawn`: whoever asked does not wait any more. */
  | { readonly type: "expire"; readonly withdrawn: boolean; readonly at: number }
  /** Uses an approval up, immediately before its call is made. */
  | { readonly type: "consume"; readonly run: ApprovalRun; readonly at: number }
  | { readonly type: "settle"; readonly run: ApprovalRun; readonly result: ApprovalResult; readonly at: number }
  /** The turn that should have made the call is dead: nothing may make it later. */
  | { readonly type: "abandon"; readonly at: number };

/**
 * What an event came to. `done`: it changed what it was to change. `run`: the call may be made, by this run alone.
 * `running`: another run makes it, or has. `stale`: it was too late for that.
 */
export type ApprovalOutcome = "done" | "run" | "running" | "stale";

/** What a transition adds to the evidence, in the gate's words: an approval is a proposal that somebody else grants. */
export interface ApprovalEvidence {
  readonly type: "proposed" | "granted" | "discarded" | "expired" | "consumed" | "executed" | "failed" | "unknown";
  readonly at: number;
  readonly turn?: string;
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

export interface ApprovalTransition {
  /** The same object when nothing changed. */
  readonly approval: Approval;
  readonly outcome: ApprovalOutcome;
  readonly evidence: readonly ApprovalEvidence[];
}
