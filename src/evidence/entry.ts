/**
 * One entry of the evidence, as it is read. Times are ISO 8601 in JSON; here ms since 1970. Types of the gate stand in
 * its `EvidenceDraft`; `asideTypes` are what happened beside that.
 */
export interface EvidenceEntry {
  /** Never given to two entries. */
  readonly id: string;
  readonly at: number;
  readonly type: string;
  readonly session: string;
  /** Empty where it is about none. */
  readonly proposal: string;
  readonly agent: string;
  readonly tool: string;
  readonly argsHash: string;
  readonly turn?: string;
  readonly detail: EvidenceDetail;
}

/**
 * `delivery`: a transition of a message that was to carry a notice. `confirmation`, `confirmation_used`: what an app
 * recorded in the ledger, and that it unlocked a call.
 */
export const asideTypes: readonly string[] = ["delivery", "confirmation", "confirmation_used"];

export type EvidenceDetail = Readonly<Record<string, string | number | boolean>>;

export interface EvidenceQuery {
  readonly session?: string;
  readonly proposal?: string;
  /** The newest so many. */
  readonly limit?: number;
  /** Whether entries of `asideTypes` are wanted too. Default false. */
  readonly all?: boolean;
}

export interface EvidenceReader {
  /** What fits the query, oldest first: as it was written, or of several sessions by time. */
  list(query: EvidenceQuery): Promise<readonly EvidenceEntry[]>;
}
