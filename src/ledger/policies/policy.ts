import type { ActorRole, ConfirmationKind } from "../confirmation.js";
import type { ValuePath } from "../path.js";
import type { Condition } from "./condition.js";

/** One entry of `require_confirmation`, checked. */
export interface Rule {
  /** The same for the same rule, whatever stands around it. */
  readonly id: string;
  /** Place in the list, from 0. */
  readonly index: number;
  /** Globs. */
  readonly tools: readonly string[];
  /** All of them have to hold; none: always. */
  readonly when: readonly Condition[];
  readonly accept: { readonly kinds: readonly ConfirmationKind[]; readonly roles: readonly ActorRole[] };
  readonly maxAgeMs: number;
  /** Absent: what a confirmation is tied to decides. */
  readonly bindFields?: readonly ValuePath[];
  readonly mode: "observe" | "enforce";
  /** For the model of a call that was refused. */
  readonly message?: string;
  readonly onMissing: "refuse" | "request_approval";
}

export interface Policies {
  readonly rules: readonly Rule[];
}

/** Why a rule lets a call pass, or not. */
export type RuleReason =
  | "confirmed"
  /** The ledger is off or absent. Blocks nothing. */
  | "no_confirmation_data"
  | "no_match"
  | "args_mismatch"
  | "expired"
  | "already_used"
  | "kind_not_accepted"
  | "not_approved"
  /** The confirmation's hash can only be compared by the process that made it. Blocks nothing. */
  | "not_comparable";

export function letsPass(reason: RuleReason): boolean {
  return reason === "confirmed" || reason === "no_confirmation_data" || reason === "not_comparable";
}
