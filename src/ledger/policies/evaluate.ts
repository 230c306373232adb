import { type HashableArguments, isBoundTo } from "../binding.js";
import type { Candidate } from "../store.js";
import { holds } from "./condition.js";
import { globMatches } from "./glob.js";
import { letsPass, type Policies, type Rule, type RuleReason } from "./policy.js";

/** Where its arguments cannot be hashed as a whole every condition holds, and only what is tied to fields can fit. */
export interface CheckedToolCall extends HashableArguments {
  readonly tool: string;
}

export interface RuleVerdict {
  readonly rule: Rule;
  readonly reason: RuleReason;
  /** What unlocks the call. */
  readonly by?: Candidate;
}

export interface Evaluation {
  readonly allowed: boolean;
  /** Of the rules that apply, in their order. */
  readonly verdicts: readonly RuleVerdict[];
  /** The one that decided: the first that forbids, else the first enforced one, else the first. Absent: no rule applies. */
  readonly decisive?: RuleVerdict;
}

export function rulesFor(policies: Policies, call: CheckedToolCall): readonly Rule[] {
  return policies.rules.filter(
    (rule) =>
      rule.tools.some((pattern) => globMatches(pattern, call.tool)) &&
      rule.when.every((condition) => holds(condition, call.args)),
  );
}

/**
 * Judges a call by rules that apply to it. Pure: it uses nothing up.
 * @param candidates of the call's tool and session, newest first
 */
export function evaluate(
  rules: readonly Rule[],
  call: CheckedToolCall,
  candidates: readonly Candidate[],
  now: number,
): Evaluation {
  return conclude(rules.map((rule) => judge(rule, call, candidates, now)));
}

/** The same answer for every rule. */
export function evaluateAs(rules: readonly Rule[], reason: RuleReason): Evaluation {
  return conclude(rules.map((rule) => ({ rule, reason })));
}

function conclude(verdicts: readonly RuleVerdict[]): Evaluation {
  const forbids = ({ rule, reason }: RuleVerdict) => rule.mode === "enforce" && !letsPass(reason);
  const forbidding = verdicts.find(forbids);
  const decisive = forbidding ?? verdicts.find(({ rule }) => rule.mode === "enforce") ?? verdicts[0];
  return { allowed: forbidding === undefined, verdicts, ...(decisive === undefined ? {} : { decisive }) };
}

/** How near a confirmation came to unlocking the call: the rule reports the nearest. */
const nearness = {
  no_match: 0,
  kind_not_accepted: 1,
  args_mismatch: 2,
  not_approved: 3,
  expired: 4,
  already_used: 5,
  not_comparable: 6,
  confirmed: 7,
  no_confirmation_data: 7,
} as const satisfies Record<RuleReason, number>;

function judge(rule: Rule, call: CheckedToolCall, candidates: readonly Candidate[], now: number): RuleVerdict {
  let best: RuleVerdict = { rule, reason: "no_match" };
  for (const candidate of candidates) {
    const bound = isBoundTo(candidate.binding, call, rule.bindFields);
    const reason = reasonOf(rule, candidate, bound, now);
    if (nearness[reason] > nearness[best.reason]) {
      best = { rule, reason, ...(reason === "confirmed" ? { by: candidate } : {}) };
    }
    // Somebody's no to this very call outweighs every yes that is older.
    if (reason === "confirmed" || (reason === "not_approved" && isNo(candidate, bound))) break;
  }
  return best;
}

function reasonOf(rule: Rule, candidate: Candidate, bound: Bound, now: number): RuleReason {
  const { kinds, roles } = rule.accept;
  const accepted = kinds.includes(candidate.kind) && roles.includes(candidate.role);
  if (bound === "other") return "args_mismatch";
  if (!accepted && !isNo(candidate, bound)) return "kind_not_accepted";
  if (now - candidate.at >= rule.maxAgeMs) return "expired";
  if (candidate.outcome !== "approved") return "not_approved";
  if (candidate.used) return "already_used";
  return bound === "not_comparable" ? "not_comparable" : "confirmed";
}

type Bound = ReturnType<typeof isBoundTo>;

function isNo(candidate: Candidate, bound: Bound): boolean {
  return candidate.outcome === "rejected" && bound === "same";
}
