/**
 * What an app itself recorded: that it asked first. Confirmations, the rules that demand them (`require_confirmation`),
 * and approvals by somebody else. It keeps hashes, never arguments, and knows no gate: a yes that the gate granted is
 * handed to it as one more confirmation. Redis is behind its ports.
 *
 * confirmation.ts  what is recorded          context.ts  whose it is (AsyncLocalStorage)
 * binding.ts       what it is tied to        check.ts    a call against the rules; policies/ the rules themselves
 * module.ts        the functions of `dale/ledger`, which src/app/ledger.ts puts together
 */
export {
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalDesk,
  type ApprovalQuestion,
  ApprovalRejectedError,
  ApprovalTimeoutError,
} from "./approval.js";
export { appRequest, createStoreDesk } from "./approval-desk.js";
export type * from "./approval-record.js";
export type { AwaitApprovalOptions } from "./approval-request.js";
export type { AppliedApproval, ApprovalStore } from "./approval-store.js";
export { type Binding, bindTo } from "./binding.js";
export { type CallCheck, type CallVerdict, type CheckOptions, checkCall } from "./check.js";
export type {
  ActorRole,
  Confirmation,
  ConfirmationInput,
  ConfirmationKind,
  ConfirmationOutcome,
} from "./confirmation.js";
export { actorRoles, confirmationKinds, confirmationOf, confirmationOutcomes } from "./confirmation.js";
export { type CarriedConfirmation, keptMs, type LedgerContext, mostOfSession, writeScope } from "./context.js";
export { createGatewayDesk, type GatewayAddress } from "./gateway-desk.js";
export {
  isOff,
  type LedgerParts,
  type Recorded,
  type ToolCallToCheck,
} from "./ledger.js";
export { createMemoryLedgerStore } from "./memory-store.js";
export {
  awaitApproval,
  type CheckWith,
  checkToolCall,
  confirmationArgsHash,
  confirmToolCall,
  guardOpenAITools,
  guardTools,
  type Ledger,
  openLedger,
  withContext,
} from "./module.js";
export { parsePath } from "./path.js";
export { type CheckedToolCall, type Evaluation, evaluate, type RuleVerdict, rulesFor } from "./policies/evaluate.js";
export { globMatches } from "./policies/glob.js";
export { letsPass, type Policies, type Rule, type RuleReason } from "./policies/policy.js";
export { buildPolicies, type PoliciesInput, policiesShape, type RuleInput, readPolicies } from "./policies/shape.js";
export { reduceApproval, requestEvidence } from "./reduce-approval.js";
export { recordSpan } from "./span.js";
export { type Candidate, type ConfirmationUse, type LedgerStore, newestOfTool } from "./store.js";
