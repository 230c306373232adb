import { DaleError } from "../errors/index.js";

/** A person who decides about a call that is not their own. */
export interface ApprovalDecision {
  readonly id: string;
  readonly reviewer: string;
  readonly comment: string;
  /** Ms since 1970. */
  readonly at: number;
}

/** Somebody said no. */
export class ApprovalRejectedError extends DaleError {
  constructor(readonly decision: ApprovalDecision) {
    super("approval_rejected", "The call was not approved.");
    this.name = "ApprovalRejectedError";
  }
}

/** Nobody decided in time; a decision that comes later is refused. */
export class ApprovalTimeoutError extends DaleError {
  constructor(readonly id: string) {
    super("approval_timeout", "Nobody approved the call in time.");
    this.name = "ApprovalTimeoutError";
  }
}

export interface ApprovalQuestion {
  readonly session: string;
  readonly tool: string;
  /** Canonical text: exactly what will run. */
  readonly args: string;
  readonly fingerprint: string;
  readonly timeoutMs: number;
}

export type ApprovalAnswer =
  | { readonly state: "waiting" }
  | { readonly state: "approved" | "rejected"; readonly decision: ApprovalDecision }
  /** Its time is over, or it is not known. */
  | { readonly state: "expired" };

/** Where an app's questions wait for a reviewer: the gateway's own queue, over HTTP or in the same Redis. */
export interface ApprovalDesk {
  /** @returns the request's id */
  ask(question: ApprovalQuestion): Promise<string>;
  read(id: string): Promise<ApprovalAnswer>;
  /** Takes the question back, unless it has just been answered: then that is the answer. */
  withdraw(id: string): Promise<ApprovalAnswer>;
}
