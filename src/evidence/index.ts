/**
 * What happened, for somebody who does not trust us. It records and reads; it never decides anything.
 */
export type { EvidenceEntry, EvidenceQuery, EvidenceReader } from "./entry.js";
