/**
 * `dale/ledger`: the ledger as a library, with or without a gateway. Here it meets its stores; Redis is loaded only for
 * those who have one.
 */
import { z } from "zod";
import { DaleError } from "../errors/index.js";
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

const optionsShape = z.strictObject({
  redis: z.strictObject({ url: z.string().min(1), prefix: z.string().min(1).optional() }).optional(),
  redactPii: z.boolean().optional(),
  captureTools: z.boolean().optional(),
  gateway: z.strictObject({ url: z.url({ protocol: /^https?$/ }), token: z.string().optional() }).optional(),
  now: z.custom<() => number>((value) => typeof value === "function", "must be a function").optional(),
});

/**
 * Opens a ledger; this module's functions serve it from now on. Connections are made when they are needed.
 * @returns at once; `close()` ends its connections
 * @throws DaleError `config_invalid` for options that are none: with a url that is not set, or a misspelt name, it would
 *   keep elsewhere what it is given
 */
export function createLedger(options: LedgerOptions = {}): Ledger {
  const checked = optionsShape.safeParse(options);
  if (!checked.success) {
    throw new DaleError(
      "config_invalid",
      `These options of createLedger are not valid. ${z.prettifyError(checked.error)}`,
    );
  }
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
