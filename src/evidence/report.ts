import { createHash, createPublicKey } from "node:crypto";
import { parseStrict } from "../canonical/index.js";
import type { EvidenceDetail } from "./entry.js";
import type { ExportBlock, ExportEntry, ExportHeader, ExportLine } from "./export-line.js";
import { exportLine } from "./export-line.js";
import { kindOf, outcomeOf } from "./report-outcome.js";
import { type ReportLanguage, type ReportWording, reportWordings } from "./report-wording.js";
import { type Verification, verifyExport } from "./verify.js";

/**
 * One proposal on one page, for people who read no JSON: what was proposed and shown, when it arrived, what was typed, what
 * ran, who approved, and how to check it. HTML with nothing to load, for the screen and for paper.
 *
 * @param exportOf the lines of an export of one proposal: of this one, and of the approval that it waits for
 * @returns undefined when there is nothing of that proposal
 */
export async function reportHtml(
  proposal: string,
  language: ReportLanguage,
  exportOf: (proposal: string) => AsyncIterable<string>,
): Promise<string | undefined> {
  const own = await extractOf(proposal, exportOf);
  if (own.entries.length === 0) return undefined;
  const awaits = detailIn(own.entries, "awaits");
  const approval = typeof awaits === "string" ? await extractOf(awaits, exportOf) : undefined;
  return page(reportWordings[language], own, approval);
}

/** What an export has of one proposal. */
interface Extract {
  readonly header: ExportHeader;
  readonly proposal: string;
  readonly entries: readonly ExportEntry[];
  readonly lines: readonly ExportLine[];
  readonly verification: Verification;
}

async function extractOf(proposal: string, exportOf: (proposal: string) => AsyncIterable<string>): Promise<Extract> {
  const texts: string[] = [];
  for await (const line of exportOf(proposal)) texts.push(line.replace(/\n$/, ""));
  const lines = texts.map((line) => exportLine.parse(JSON.parse(line)));
  const header = lines.find((line) => line.kind === "evidence");
  if (!header) throw new TypeError("An export begins with its header.");
  const entries = lines.filter((line) => line.kind === "entry" && line.proposal === proposal) as ExportEntry[];
  return { header, proposal, entries, lines, verification: await verifyExport(texts, header.public_key) };
}

function detailIn(entries: readonly ExportEntry[], name: string): string | number | boolean | undefined {
  return entries.map(({ told }) => told?.detail[name]).find((value) => value !== undefined);
}

function page(say: ReportWording, own: Extract, approval: Extract | undefined): string {
  const { entries, proposal } = own;
  const kind = kindOf(entries);
  const first = entries.find(({ type }) => type === "proposed") ?? entries[0];
  const session = entries.map(({ told }) => told?.session).find((whose) => whose !== undefined) ?? "";
  const byApp = kind === "app_approval";
  const saw = detailIn(entries, kind === "consent" ? "notice" : "shows");
  const noticeParts = new Set(entries.flatMap(({ type, told }) => (type === "notice_sent" ? told?.detail.part : [])));
  const title = kind === "consent" ? say.title : say.approvalTitle;
  return `<!doctype html>
<html lang="${say.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(`${title} · ${proposal}`)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${html(title)}</h1>
<p class="summary">${html(summaryOf(entries, say))}</p>
<dl>
${field(say.proposal, proposal)}
${field(byApp ? say.session : say.person, session)}
${byApp ? "" : field(say.agent, first?.agent ?? "")}
${field(say.call, first?.tool ?? "")}
</dl>
<h2>${html(say.arguments)}</h2>
${argumentsTable(detailIn(entries, "args"), say)}
<h2>${html(kind === "consent" ? say.notice : say.shows)}</h2>
${saw === undefined ? "<p>—</p>" : `<blockquote>${shown(String(saw))}</blockquote>`}
<p class="note">${html(kind === "consent" ? say.noticeNote : say.showsNote)}</p>
${approval ? awaited(approval, say) : ""}
<h2>${html(say.story)}</h2>
<table>
<thead><tr><th>${html(say.when)}</th><th>${html(say.what)}</th><th>${html(say.details)}</th></tr></thead>
<tbody>
${entries.map((entry) => step(entry, say, { noticeParts, approval: kind !== "consent" })).join("\n")}
</tbody>
</table>
<p class="note">${html(say.timesNote)}</p>
<h2>${html(say.proof)}</h2>
${proof(say, own, approval)}
</main>
</body>
</html>
`;
}

function summaryOf(entries: readonly ExportEntry[], say: ReportWording): string {
  const outcome = outcomeOf(entries, say);
  return entries.some(({ told }) => told === undefined) ? `${outcome} ${say.summary.erased}` : outcome;
}

/** What became of the approval that a confirmed call waits for: it is told under the approval's own name. */
function awaited({ proposal, entries }: Extract, say: ReportWording): string {
  const { awaited: words } = say;
  return `<h2>${html(words.title)}</h2>
<dl>
${field(words.approval, proposal)}
${field(words.outcome, entries.length === 0 ? words.none : summaryOf(entries, say))}
${field(words.page, `dale evidence export --format html --proposal ${proposal}`)}
</dl>`;
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
  "shows",
  "args",
  "approval",
  "consent",
  "channel",
  "account",
  "index",
  "of",
  "attempts",
]);

interface StepContext {
  /** Messages that went out with the notice. */
  readonly noticeParts: ReadonlySet<unknown>;
  /** Whether it is a reviewer who decides. */
  readonly approval: boolean;
}

function step({ at, type, told }: ExportEntry, say: ReportWording, context: StepContext): string {
  const detail = told?.detail ?? {};
  const details = Object.entries(detail)
    .filter(([name]) => !toldElsewhere.has(name) && !(type === "delivery" && name === "state"))
    .map(
      ([name, value]) => `<dt>${html(say.labels[name] ?? name)}</dt><dd>${shown(detailText(name, value, say))}</dd>`,
    );
  const when = html(at.replace("T", " ").replace("Z", ""));
  return `<tr class="${html(type)}">
<td><time datetime="${html(at)}">${when}</time></td>
<td>${html(type === "delivery" ? deliveryWords(detail, say, context.noticeParts) : stepWords(type, say, context))}</td>
<td>${details.length > 0 ? `<dl>${details.join("")}</dl>` : ""}</td>
</tr>`;
}

function stepWords(type: string, say: ReportWording, { approval }: StepContext): string {
  return (approval ? say.steps[`approval_${type}`] : undefined) ?? say.steps[type] ?? type;
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

function proof(say: ReportWording, { header, proposal, entries, lines, verification }: Extract, approval?: Extract) {
  const findings = [...verification.findings, ...(approval?.verification.findings ?? [])];
  const chains = [...new Set(entries.map(({ chain }) => chain))].map((chain) => {
    const of = entries.filter((entry) => entry.chain === chain);
    return `${chain}: ${of[0]?.seq}–${of.at(-1)?.seq}, ${of.at(-1)?.hash}`;
  });
  const block = lines.findLast((line): line is ExportBlock => line.kind === "block");
  const der = createPublicKey(header.public_key).export({ format: "der", type: "spki" });
  const verdict =
    findings.length === 0
      ? `<p class="whole">${html(say.whole)}</p>`
      : `<p class="broken">${html(say.broken)} ${html([...new Set(findings.map(({ code }) => code))].join(", "))}</p>`;
  return `${verdict}
<p class="note">${html(say.proofNote)}</p>
<pre>dale evidence export --proposal ${html(proposal)} --out evidence.jsonl
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
