import type { CallGuard, Consent, GuardedCall, GuardRefusal } from "../agents/runtime/index.js";
import { fingerprint } from "../canonical/index.js";
import { DaleError } from "../errors/index.js";
import {
  type ApprovalStore,
  type CallCheck,
  type Confirmation,
  checkCall,
  confirmationOf,
  isOff,
  type LedgerStore,
  letsPass,
  type Policies,
  type Rule,
  recordSpan,
  writeScope,
} from "../ledger/index.js";
import type { PolicyCounts } from "../store/index.js";
import type { Logger } from "./logger.js";
import type { Metrics } from "./metrics.js";

export interface CallGuardOptions {
  readonly policies: Policies;
  readonly store: LedgerStore;
  readonly counts: PolicyCounts;
  readonly approvals: Pick<ApprovalStore, "openOf">;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Calls of one session that may wait for a reviewer. */
const mostOpen = 20;

/**
 * The rules, asked before every call of the executor. What the gate granted, or a reviewer approved, is a confirmation
 * that comes with the call: it satisfies a rule that accepts it, for this one call.
 */
export function createCallGuard(options: CallGuardOptions): CallGuard {
  const { policies, store, logger, now } = options;

  function count({ verdicts }: CallCheck): void {
    for (const { rule, reason } of verdicts)
      options.metrics.policyChecks.inc({ rule: rule.id, mode: rule.mode, reason });
    const counts = verdicts.map(({ rule, reason }) => ({ rule: rule.id, reason }));
    void options.counts.add(counts).catch(() => logger.warn({}, "what rules came to could not be counted"));
  }

  return async (call) => {
    const consents = (call.consents ?? []).map((consent) => confirmationFor(call, consent));
    for (const consent of consents) recordSpan(consent);
    const check = await checkCall(
      { tool: call.tool, args: call.args },
      {
        policies,
        ...(isOff() ? {} : { store }),
        scope: writeScope({ kind: "session", id: call.session }),
        carried: consents,
        now,
      },
    );
    if (check.verdicts.length > 0) count(check);
    if (check.allowed) return undefined;
    if (check.reason === "store_unavailable") {
      throw new DaleError("store_unavailable", "Nobody can look whether the call was confirmed.");
    }
    const refused = refusal(check);
    return refused.awaitsApproval ? await unlessOpen(call, refused) : refused;
  };

  /** A call that waits for a reviewer already, or is about to be made, does not wait twice. */
  async function unlessOpen(call: GuardedCall, refused: GuardRefusal): Promise<GuardRefusal> {
    const open = await options.approvals.openOf(call.session);
    const message = open.includes(fingerprint(call.tool, call.args))
      ? "This call was NOT made again: it waits for a reviewer already, or was just approved. The runtime tells the person."
      : open.length >= mostOpen
        ? "This call was NOT made: too many calls of this conversation wait for a reviewer already."
        : undefined;
    return message === undefined ? refused : { code: "approval_waits", message };
  }
}

function confirmationFor(call: GuardedCall, consent: Consent): Confirmation {
  const person = consent.by === "person";
  return confirmationOf({
    tool: call.tool,
    args: call.args,
    kind: person ? "confirmation" : "human_review",
    role: person ? "user" : "reviewer",
    ref: consent.ref,
    at: consent.at,
  });
}

function refusal({ verdicts, reason = "no_match", rule }: CallCheck): GuardRefusal {
  const missing = verdicts.filter((verdict) => verdict.rule.mode === "enforce" && !letsPass(verdict.reason));
  const awaitsApproval = missing.every((verdict) => verdict.rule.onMissing === "request_approval");
  return { code: reason, message: messageOf(rule, reason), ...(awaitsApproval ? { awaitsApproval } : {}) };
}

const words: Partial<Record<string, string>> = {
  args_mismatch: "What was confirmed has other arguments.",
  expired: "It was confirmed too long ago.",
  already_used: "Its confirmation was used up by an earlier call.",
  kind_not_accepted: "It was not confirmed by whom it has to be.",
  not_approved: "Whoever was asked did not say yes.",
};

function messageOf(rule: Rule | undefined, reason: string): string {
  const why = words[reason] ?? "It has to be confirmed first, and it was not.";
  return `This call was NOT made. ${rule?.message ?? why}`;
}

/** Says at the start which rules have met confirmations that only the app's own process can compare. */
export async function warnOfBlindRules(
  { rules }: Policies,
  counts: Pick<PolicyCounts, "read">,
  logger: { warn(fields: object, message: string): void },
): Promise<void> {
  const all = await counts.read(rules.map(({ id }) => id));
  for (const [index, rule] of rules.entries()) {
    const times = all[index]?.not_comparable ?? 0;
    if (times === 0) continue;
    logger.warn(
      { rule: rule.id, tools: rule.tools, times },
      "a rule cannot compare confirmations: it blocks nothing there",
    );
  }
}
