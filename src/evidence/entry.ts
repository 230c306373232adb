/** One entry of the evidence, as it is read. Times are ISO 8601 in JSON; here ms since 1970. */
export interface EvidenceEntry {
  readonly id: string;
  readonly at: number;
  readonly type: string;
  readonly session: string;
  readonly proposal: string;
  readonly agent: string;
  readonly tool: string;
  readonly argsHash: string;
  readonly turn?: string;
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

export interface EvidenceQuery {
  readonly session?: string;
  readonly proposal?: string;
  readonly limit?: number;
}

/** Reads the journal and, behind it, the archive as one list, oldest first. */
export interface EvidenceReader {
  list(query: EvidenceQuery): Promise<readonly EvidenceEntry[]>;
}
