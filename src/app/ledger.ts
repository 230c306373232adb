/**
 * `dale/ledger`: the ledger as a library, with or without a gateway. Here it meets its stores; Redis is loaded only for
 * those who have one.
 */
import {
  createGatewayDesk,
  createMemoryLedgerStore,
  type GatewayAddress,
  type Ledger,
  openLedger,
} from "../ledger/index.js";
import { createLedgerBacking } from "./ledger-backing.js";

export { DaleError } from "../errors/index.js";
export {
  type ActorRole,
  type ApprovalDecision,
  ApprovalRejectedError,
  ApprovalTimeoutError,
  type AwaitApprovalOptions,
  awaitApproval,
  type CallVerdict,
  type CarriedConfirmation,
  type CheckWith,
  type ConfirmationInput,
  type ConfirmationKind,
  type ConfirmationOutcome,
  checkToolCall,
  confirmationArgsHash,
  confirmToolCall,
  guardOpenAITools,
  guardTools,
  type Ledger,
  type LedgerContext,
  type Policies,
  type PoliciesInput,
  type Recorded,
  type RuleInput,
  type RuleReason,
  readPolicies,
  type ToolCallToCheck,
  withContext,
} from "../ledger/index.js";
export { loadPolicies } from "./policies.js";

export interface LedgerOptions {
  /** Absent: confirmations are kept in this process. `prefix`: Dale's own, unless set. */
  readonly redis?: { readonly url: string; readonly prefix?: string };
  /** Hashes that only this process can compare. Default false. */
  readonly redactPii?: boolean;
  /** False does the same: arguments may not be guessed from a hash. Default true. */
  readonly captureTools?: boolean;
  /** Whose console decides approvals. Absent: that of the gateway on the same Redis. */
  readonly gateway?: GatewayAddress;
  /** Ms since 1970. Default Date.now. */
  readonly now?: () => number;
}

/**
 * Opens a ledger; this module's functions serve it from now on. Connections are made when they are needed.
 * @returns at once; `close()` ends its connections
 */
export function createLedger(options: LedgerOptions = {}): Ledger {
  const { redis, gateway } = options;
  const given = options.now ?? Date.now;
  const now = () => Number(given());
  const backing = redis === undefined ? undefined : createLedgerBacking(redis, now);
  const store = backing?.store ?? createMemoryLedgerStore();
  const approvals = gateway === undefined ? backing?.approvals : createGatewayDesk(gateway);
  let closed = false;
  return openLedger({
    store: {
      ...store,
      async close() {
        closed = true;
        await store.close();
        await backing?.close();
      },
    },
    ...(approvals === undefined ? {} : { approvals }),
    hidden: options.redactPii === true || options.captureTools === false,
    now,
    closed: () => closed,
  });
}
