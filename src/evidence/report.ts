import { createHash, createPublicKey } from "node:crypto";
import { parseStrict } from "../canonical/index.js";
import type { EvidenceDetail } from "./entry.js";
import type { ExportBlock, ExportEntry, ExportHeader, ExportLine } from "./export-line.js";
import { exportLine } from "./export-line.js";
import { type ReportLanguage, type ReportWording, reportWordings } from "./report-wording.js";
import { type Verification, verifyExport } from "./verify.js";

/**
 * One proposal on one page, for people who read no JSON: what was proposed and shown, when it arrived, what was typed, what
 * ran, who approved, and how to check it. HTML with nothing to load, for the screen and for paper.
 *
 * @param lines of an export of one proposal
 * @returns undefined when there is nothing of that proposal
 */
export async function reportHtml(lines: readonly string[], language: ReportLanguage): Promise<string | undefined> {
  const parsed = lines.map((line) => exportLine.parse(JSON.parse(line)));
  const header = parsed.find((line) => line.kind === "evidence");
  const entries = parsed.filter((line) => line.kind === "entry" && line.proposal === header?.proposal) as ExportEntry[];
  if (!header || entries.length === 0) return undefined;
  const verification = await verifyExport(
    lines.map((line) => line.replace(/\n$/, "")),
    header.public_key,
  );
  return page(reportWordings[language], header, entries, parsed, verification);
}

function page(
  say: ReportWording,
  header: ExportHeader,
  entries: readonly ExportEntry[],
  lines: readonly ExportLine[],
  verification: Verification,
): string {
  const first = entries.find(({ type }) => type === "proposed") ?? entries[0];
  const detail = (name: string) => entries.map(({ told }) => told?.detail[name]).find((value) => value !== undefined);
  const session = entries.map(({ told }) => told?.session).find((whose) => whose !== undefined) ?? "";
  const notice = detail("notice");
  const noticeParts = new Set(entries.flatMap(({ type, told }) => (type === "notice_sent" ? told?.detail.part : [])));
  const title = `${say.title} · ${header.proposal ?? ""}`;
  return `<!doctype html>
<html lang="${say.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${html(say.title)}</h1>
<p class="summary">${html(summaryOf(entries, say))}</p>
<dl>
${field(say.proposal, header.proposal ?? "")}
${field(say.person, session)}
${field(say.agent, first?.agent ?? "")}
${field(say.call, first?.tool ?? "")}
</dl>
<h2>${html(say.arguments)}</h2>
${argumentsTable(detail("args"), say)}
<h2>${html(say.notice)}</h2>
${notice === undefined ? "<p>—</p>" : `<blockquote>${shown(String(notice))}</blockquote>`}
<p class="note">${html(say.noticeNote)}</p>
<h2>${html(say.story)}</h2>
<table>
<thead><tr><th>${html(say.when)}</th><th>${html(say.what)}</th><th>${html(say.details)}</th></tr></thead>
<tbody>
${entries.map((entry) => step(entry, say, noticeParts)).join("\n")}
</tbody>
</table>
<p class="note">${html(say.timesNote)}</p>
<h2>${html(say.proof)}</h2>
${proof(say, header, entries, lines, verification)}
</main>
</body>
</html>
`;
}

function summaryOf(entries: readonly ExportEntry[], say: ReportWording): string {
  const outcome = outcomeOf(entries, say);
  return entries.some(({ told }) => told === undefined) ? `${outcome} ${say.summary.erased}` : outcome;
}

function outcomeOf(entries: readonly ExportEntry[], say: ReportWording): string {
  switch (entries.findLast(({ type }) => type === "executed" || type === "failed" || type === "unknown")?.type) {
    case "executed":
      return entries.some(({ told }) => told?.detail.approval === true)
        ? say.summary.executedApproved
        : say.summary.executed;
    case "failed":
      return say.summary.failed;
    case "unknown":
      return say.summary.unknown;
    default:
      return say.summary.none;
  }
}

function argumentsTable(args: string | number | boolean | undefined, say: ReportWording): string {
  if (typeof args !== "string") return "<p>—</p>";
  const parsed = parseStrict(args);
  if (!parsed.ok || typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value)) {
    return `<pre>${shown(args)}</pre>`;
  }
  const rows = Object.entries(parsed.value);
  if (rows.length === 0) return `<p>${html(say.noArguments)}</p>`;
  const value = (given: unknown) => (typeof given === "string" ? given : JSON.stringify(given, undefined, 2));
  return `<dl>\n${rows.map(([name, given]) => field(name, value(given))).join("\n")}\n</dl>`;
}

/** Details that are told elsewhere on the page, or to nobody. */
const toldElsewhere = new Set([
  "notice",
  "args",
  "approval",
  "consent",
  "channel",
  "account",
  "index",
  "of",
  "attempts",
]);

/** @param noticeParts messages that went out with the notice */
function step({ at, type, told }: ExportEntry, say: ReportWording, noticeParts: ReadonlySet<unknown>): string {
  const detail = told?.detail ?? {};
  const details = Object.entries(detail)
    .filter(([name]) => !toldElsewhere.has(name) && !(type === "delivery" && name === "state"))
    .map(
      ([name, value]) => `<dt>${html(say.labels[name] ?? name)}</dt><dd>${shown(detailText(name, value, say))}</dd>`,
    );
  const when = html(at.replace("T", " ").replace("Z", ""));
  return `<tr class="${html(type)}">
<td><time datetime="${html(at)}">${when}</time></td>
<td>${html(type === "delivery" ? deliveryWords(detail, say, noticeParts) : stepWords(type, detail, say))}</td>
<td>${details.length > 0 ? `<dl>${details.join("")}</dl>` : ""}</td>
</tr>`;
}

function stepWords(type: string, detail: EvidenceDetail, say: ReportWording): string {
  return (detail.approval === true ? say.steps[`approval_${type}`] : undefined) ?? say.steps[type] ?? type;
}

/** Of a proposal that was gone by then, only the text before the notice goes out. */
function deliveryWords(detail: EvidenceDetail, say: ReportWording, noticeParts: ReadonlySet<unknown>): string {
  const state = String(detail.state);
  const gone = state === "accepted" || state === "delivered" || state === "read";
  const what = gone && !noticeParts.has(detail.part) ? say.steps.delivery_without : say.steps.delivery;
  return `${what}: ${say.delivery[state] ?? state}.`;
}

function detailText(name: string, value: string | number | boolean, say: ReportWording): string {
  if (name.endsWith("At") && typeof value === "number") return new Date(value).toISOString();
  if (name === "reason") return say.reasons[String(value)] ?? String(value);
  if (name === "level") return say.delivery[String(value)] ?? String(value);
  if (typeof value === "boolean") return value ? "✓" : "—";
  return String(value);
}

function proof(
  say: ReportWording,
  header: ExportHeader,
  entries: readonly ExportEntry[],
  lines: readonly ExportLine[],
  verification: Verification,
): string {
  const chains = [...new Set(entries.map(({ chain }) => chain))].map((chain) => {
    const of = entries.filter((entry) => entry.chain === chain);
    return `${chain}: ${of[0]?.seq}–${of.at(-1)?.seq}, ${of.at(-1)?.hash}`;
  });
  const block = lines.findLast((line): line is ExportBlock => line.kind === "block");
  const der = createPublicKey(header.public_key).export({ format: "der", type: "spki" });
  const verdict = verification.ok
    ? `<p class="whole">${html(say.whole)}</p>`
    : `<p class="broken">${html(say.broken)} ${html([...new Set(verification.findings.map(({ code }) => code))].join(", "))}</p>`;
  return `${verdict}
<p class="note">${html(say.proofNote)}</p>
<pre>dale evidence export --proposal ${html(header.proposal ?? "")} --out evidence.jsonl
dale evidence verify evidence.jsonl --key evidence-public.pem</pre>
<dl class="proof">
${field(say.installation, header.installation)}
${field(say.chain, chains.join("\n"))}
${block ? field(say.block, `${block.number}, ${block.at}, ${block.hash}`) : ""}
${block ? field(say.signature, block.signature) : ""}
${field(say.key, createHash("sha256").update(der).digest("hex"))}
${field(say.made, header.exported_at)}
</dl>`;
}

function field(name: string, value: string): string {
  return `<dt>${shown(name)}</dt><dd>${shown(value)}</dd>`;
}

/** What could hide or forge what stands around it: shown as its code. Line breaks are kept. */
const hiding = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu;

function shown(text: string): string {
  const plain = text.replace(hiding, (character) =>
    character === "\n" ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`,
  );
  return `<bdi>${html(plain)}</bdi>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

const style = `
body { font: 16px/1.5 system-ui, sans-serif; color: #111; background: #fff; margin: 0; }
main { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #bbb; }
.summary { font-size: 1.1rem; }
blockquote, pre { background: #f3f3f3; margin: 0; padding: .75rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; }
dt { color: #555; } dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem .4rem 0; border-top: 1px solid #ddd; }
td:first-child { white-space: nowrap; font-variant-numeric: tabular-nums; }
td dl { font-size: .85rem; grid-template-columns: minmax(5rem, 45%) 1fr; }
tr.granted td, tr.executed td { background: #eef7ee; } tr.delivery td { color: #555; }
.note { color: #555; font-size: .9rem; } .proof { font-size: .85rem; }
.broken { color: #a00; font-weight: bold; }
@media print { main { margin: 0; max-width: none; } tr { break-inside: avoid; } }
`;
