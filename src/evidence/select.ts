import { asideTypes, type EvidenceEntry, type EvidenceQuery } from "./entry.js";

/** How many entries are read where a query does not say. */
export const usualLimit = 1_000;

export function fitsQuery(entry: EvidenceEntry, query: EvidenceQuery): boolean {
  return (
    (query.all === true || !asideTypes.includes(entry.type)) &&
    (query.session === undefined || entry.session === query.session) &&
    (query.proposal === undefined || entry.proposal === query.proposal)
  );
}

/**
 * The newest entries that fit, oldest first: as they stand in `entries`, or of several sessions by their time. An entry
 * that stands there twice is listed once.
 */
export function selectEvidence(entries: readonly EvidenceEntry[], query: EvidenceQuery): readonly EvidenceEntry[] {
  const fitting = new Map(entries.filter((entry) => fitsQuery(entry, query)).map((entry) => [entry.id, entry]));
  const several = query.session === undefined && query.proposal === undefined;
  const found = [...fitting.values()];
  const ordered = several ? found.sort((one, other) => one.at - other.at) : found;
  const limit = query.limit ?? usualLimit;
  return limit > 0 ? ordered.slice(-limit) : [];
}
