import { checkJson } from "../canonical/index.js";
import { DaleError } from "../errors/index.js";
import type { ApprovalDecision } from "./approval.js";
import type { AwaitApprovalOptions } from "./approval-request.js";
import { type CallVerdict, checkCall } from "./check.js";
import type { ConfirmationInput } from "./confirmation.js";
import { type LedgerContext, runInContext } from "./context.js";
import { guardAiTools, guardRunnableTools, refusedWords, type ToolCheck } from "./guard-tools.js";
import { hashOf, schemeFor } from "./hashing.js";
import {
  createLedgerOn,
  isOff,
  type LedgerCore,
  type LedgerParts,
  type Recorded,
  readCall,
  type ToolCallToCheck,
} from "./ledger.js";
import { checkOptions } from "./options.js";
import type { Policies } from "./policies/policy.js";
import { type PoliciesInput, readPolicies } from "./policies/shape.js";

/**
 * The functions of `dale/ledger`. Those that a ledger has too serve the ledger that was created last.
 */

const partsOf = new WeakMap<Ledger, LedgerParts>();
let latest: Ledger | undefined;

/** What `createLedger` returns. Its methods are this module's functions, for this ledger. */
export interface Ledger extends LedgerCore {
  checkToolCall(call: ToolCallToCheck, options: RulesToCheck): Promise<CallVerdict>;
  guardTools<Tools extends object>(tools: Tools, options: RulesToCheck): Tools;
  guardOpenAITools<Tool extends object>(tools: readonly Tool[], options: RulesToCheck): Tool[];
}

export interface RulesToCheck {
  readonly policies: PoliciesInput | Policies;
}

/** Makes a ledger, which the functions below serve from now on. */
export function openLedger(parts: LedgerParts): Ledger {
  const ledger: Ledger = {
    ...createLedgerOn(parts),
    checkToolCall: async (call, rules) => await checkToolCall(call, { ...rules, ledger }),
    guardTools: (tools, rules) => guardTools(tools, { ...rules, ledger }),
    guardOpenAITools: (tools, rules) => guardOpenAITools(tools, { ...rules, ledger }),
  };
  partsOf.set(ledger, parts);
  latest = ledger;
  return ledger;
}

/** As the ledger's own; `no_client` before one was created. Never throws. */
export async function confirmToolCall(input: ConfirmationInput): Promise<Recorded> {
  return latest === undefined ? { recorded: false, reason: "no_client" } : await latest.confirmToolCall(input);
}

/** As the ledger's own; before one was created, with the clock of this machine. */
export function withContext<T>(context: LedgerContext, fn: () => T): T {
  return latest === undefined ? runInContext(context, fn, Date.now) : latest.withContext(context, fn);
}

/** As the ledger's own; before one was created, the plain SHA-256. */
export function confirmationArgsHash(args: unknown): string | undefined {
  if (latest !== undefined) return latest.confirmationArgsHash(args);
  const checked = checkJson(args);
  return checked.ok ? hashOf(checked.value, schemeFor(false)) : undefined;
}

/** As the ledger's own. @throws DaleError as the ledger's own does; `approval_unavailable` before one was created */
export async function awaitApproval(
  tool: string,
  args: unknown,
  options?: AwaitApprovalOptions,
): Promise<ApprovalDecision> {
  if (latest === undefined) {
    throw new DaleError("approval_unavailable", "Nobody can be asked: create a ledger first (no_client).");
  }
  return await latest.awaitApproval(tool, args, options);
}

export interface CheckWith extends RulesToCheck {
  /** Absent: every rule reports `no_confirmation_data`. */
  readonly ledger?: Ledger | undefined;
}

/**
 * Judges a call by the rules, and uses up the confirmation that unlocks it.
 * @returns no reason and no mode where no rule applies
 * @throws DaleError `config_invalid` for a call, policies, a ledger or options that are none
 */
export async function checkToolCall(call: ToolCallToCheck, options: CheckWith): Promise<CallVerdict> {
  const { allowed, reason, mode } = await checked(call, ...readOptions(options, "checkToolCall"));
  return { allowed, ...(reason === undefined ? {} : { reason }), ...(mode === undefined ? {} : { mode }) };
}

/**
 * Tools of `ai`, each asking the rules before its own code runs; a model whose call is refused is told why.
 * @throws DaleError `config_invalid`
 */
export function guardTools<Tools extends object>(tools: Tools, options: CheckWith): Tools {
  return guardAiTools(tools, checkFor(options, "guardTools"));
}

/** The same for the OpenAI client's own loop: the list that `client.chat.completions.runTools` takes. */
export function guardOpenAITools<Tool extends object>(tools: readonly Tool[], options: CheckWith): Tool[] {
  return guardRunnableTools(tools, checkFor(options, "guardOpenAITools"));
}

function checkFor(options: CheckWith, whose: string): ToolCheck {
  const [parts, policies] = readOptions(options, whose);
  return async (call) => {
    const { rule, ...verdict } = await checked(call, parts, policies);
    return { ...verdict, message: rule?.message ?? refusedWords };
  };
}

function checked(call: unknown, parts: LedgerParts | undefined, policies: Policies): ReturnType<typeof checkCall> {
  return checkCall(readCall(call), {
    policies,
    now: parts?.now ?? Date.now,
    ...(parts === undefined || isOff() ? {} : { store: parts.store }),
  });
}

/** A misspelt `ledger` would be none, and block nothing. */
function readOptions(options: CheckWith, whose: string): [LedgerParts | undefined, Policies] {
  checkOptions(options, ["ledger", "policies"], whose);
  return [partsFor(options.ledger), readPolicies(options.policies)];
}

/** Something else in the place of a ledger would block nothing, silently. */
function partsFor(ledger: Ledger | undefined): LedgerParts | undefined {
  if (ledger === undefined || ledger === null) return undefined;
  const parts = partsOf.get(ledger);
  if (parts === undefined) throw new DaleError("config_invalid", "`ledger` has to be what createLedger returned.");
  return parts;
}
