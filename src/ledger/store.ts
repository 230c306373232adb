import type { Confirmation } from "./confirmation.js";

/** A confirmation as a check finds it. */
export interface Candidate extends Confirmation {
  /** It has unlocked its call: it, or another one with its `ref`. */
  readonly used: boolean;
}

export interface ConfirmationUse {
  /** Of a kept confirmation; one that was carried here with a job is not kept. */
  readonly id?: string;
  readonly ref?: string;
  /** For the evidence: what was used, and the id of the rule that it satisfied. */
  readonly told?: { readonly confirmation: Confirmation; readonly rule: string };
}

/**
 * Where confirmations are kept, for an hour. Scopes are written by `writeScope`. Contract suite:
 * test/contracts/ledger-store.ts. Every method throws DaleError `store_unavailable` when the store cannot be reached.
 */
export interface LedgerStore {
  /** Keeps one; of more than 50 in a scope the oldest goes. */
  record(scope: string, confirmation: Confirmation): Promise<void>;
  /**
   * @param carried confirmations that are not kept here, newest first; of those too the store knows whether they are used
   * @param since ms since 1970: older ones are not found
   * @returns the newest `limit` of the tool, the newest first
   */
  find(query: {
    readonly scope: string;
    readonly tool: string;
    readonly carried: readonly Confirmation[];
    readonly since: number;
    readonly limit: number;
  }): Promise<readonly Candidate[]>;
  /**
   * Uses confirmations up, all of them or, when one is used already or is not kept any more, none. A ref is used in every
   * scope at once.
   * @param at ms since 1970
   */
  use(scope: string, uses: readonly ConfirmationUse[], at: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Picks what a check is given from what a scope has. For stores: `kept` newest first. */
export function newestOfTool(
  kept: readonly Confirmation[],
  query: Pick<Parameters<LedgerStore["find"]>[0], "tool" | "carried" | "since" | "limit">,
): readonly Confirmation[] {
  const fits = (each: Confirmation) => each.tool === query.tool && each.at >= query.since;
  const all = [...kept.filter(fits), ...query.carried.filter(fits)];
  return all.toSorted((one, other) => other.at - one.at).slice(0, query.limit);
}
