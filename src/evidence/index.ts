/**
 * What happened, for somebody who does not trust us. It records and reads; it never decides anything.
 */
export type { EvidenceDetail, EvidenceEntry, EvidenceQuery, EvidenceReader } from "./entry.js";
export type { Backlog, EvidenceJournal, WaitingEntry } from "./journal.js";
export { fitsQuery, selectEvidence, usualLimit } from "./select.js";
