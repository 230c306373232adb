import type { ExportEntry } from "./export-line.js";
import type { ReportWording } from "./report-wording.js";

type Entries = readonly Pick<ExportEntry, "type" | "proposal" | "agent">[];

/** Whom a page is about. Told by what is not sealed, so that it can be told of what was erased too. */
export function kindOf(entries: Entries): "consent" | "approval" | "app_approval" {
  const [first] = entries;
  if (!first?.proposal.startsWith("apr-")) return "consent";
  return first.agent === "" ? "app_approval" : "approval";
}

/** What became of it, in one sentence. */
export function outcomeOf(entries: Entries, say: ReportWording): string {
  const last = (...types: readonly string[]) => entries.findLast(({ type }) => types.includes(type))?.type;
  const kind = kindOf(entries);
  if (kind === "app_approval") return say.summary.app[decision(last)];
  const ended = last("executed", "failed", "unknown");
  const { consent, approval } = say.summary;
  if (kind === "approval") return ended === undefined ? approval[decision(last)] : approval[ended as Ended];
  if (ended !== undefined) return consent[ended as Ended];
  return last("parked") === undefined ? consent.none : consent.parked;
}

type Ended = "executed" | "failed" | "unknown";

function decision(last: (...types: readonly string[]) => string | undefined) {
  const decided = last("granted", "discarded", "expired");
  return decided === "granted" || decided === "discarded" || decided === "expired" ? decided : "waiting";
}
