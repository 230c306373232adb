import { DaleError } from "../errors/index.js";
import type { Confirmation } from "./confirmation.js";
import { keptMs, surroundings, writeScope } from "./context.js";
import { type CheckedToolCall, type Evaluation, evaluate, evaluateAs, rulesFor } from "./policies/evaluate.js";
import type { Policies, Rule, RuleReason } from "./policies/policy.js";
import type { Candidate, ConfirmationUse, LedgerStore } from "./store.js";

/** Confirmations of a tool that one check looks at. */
const mostOfCheck = 10;
/** So often in a row somebody else may use up what a check has found. */
const mostTries = 20;

/** What a call came to. */
export interface CallVerdict {
  readonly allowed: boolean;
  /** Absent where no rule applies. `store_unavailable`: nobody could look; then an enforced call is not allowed. */
  readonly reason?: RuleReason | "store_unavailable";
  readonly mode?: Rule["mode"];
}

export interface CallCheck extends CallVerdict {
  /** Of each rule that applies. Empty with `store_unavailable`. */
  readonly verdicts: Evaluation["verdicts"];
  /** The rule that decided. */
  readonly rule?: Rule;
}

export interface CheckOptions {
  /** Absent: there is no ledger. */
  readonly store?: LedgerStore;
  readonly policies: Policies;
  /** Whose confirmations count. Default: those of the context. */
  readonly scope?: string;
  /** Confirmations that the store does not keep, newest first. Default: those of the context. */
  readonly carried?: readonly Confirmation[];
  readonly now: () => number;
}

/** Judges a call, and uses up what unlocks it. A call that is refused uses nothing up. */
export async function checkCall(call: CheckedToolCall, options: CheckOptions): Promise<CallCheck> {
  const rules = rulesFor(options.policies, call);
  if (rules.length === 0) return { allowed: true, verdicts: [] };
  const { store } = options;
  if (store === undefined) return verdictOf(evaluateAs(rules, "no_confirmation_data"));
  try {
    return verdictOf(await judge(rules, call, store, options));
  } catch (error) {
    const away = error instanceof DaleError && error.code === "store_unavailable";
    const rule = rules.find(({ mode }) => mode === "enforce") ?? rules[0];
    if (!away || rule === undefined) throw error;
    return {
      allowed: rule.mode !== "enforce",
      reason: "store_unavailable",
      mode: rule.mode,
      verdicts: [],
      rule,
    };
  }
}

async function judge(
  rules: readonly Rule[],
  call: CheckedToolCall,
  store: LedgerStore,
  options: CheckOptions,
): Promise<Evaluation> {
  const around = surroundings();
  const scope = options.scope ?? (around.scope && writeScope(around.scope));
  if (scope === undefined) return evaluate(rules, call, [], options.now());
  const carried = options.carried ?? around.carried;
  for (let tries = 0; tries < mostTries; tries++) {
    const now = options.now();
    const query = { scope, tool: call.tool, carried, since: now - keptMs, limit: mostOfCheck };
    const evaluation = evaluate(rules, call, await store.find(query), now);
    const uses = usesOf(evaluation, carried);
    if (!evaluation.allowed || uses.length === 0 || (await store.use(scope, uses, now))) return evaluation;
  }
  throw new DaleError("store_unavailable", "Too many others use this session's confirmations.");
}

function usesOf({ verdicts }: Evaluation, carried: readonly Confirmation[]): readonly ConfirmationUse[] {
  const used = new Map<string, { readonly by: Candidate; readonly rule: Rule }>(
    verdicts.flatMap(({ by, rule }) => (by === undefined ? [] : [[by.id, { by, rule }]])),
  );
  return [...used.values()].map(({ by, rule }) => ({
    ...(carried.some(({ id }) => id === by.id) ? {} : { id: by.id }),
    ...(by.ref === undefined ? {} : { ref: by.ref }),
    told: { confirmation: by, rule: rule.id },
  }));
}

function verdictOf({ allowed, verdicts, decisive }: Evaluation): CallCheck {
  if (decisive === undefined) return { allowed, verdicts };
  const { rule, reason } = decisive;
  return { allowed, reason, mode: rule.mode, verdicts, rule };
}
