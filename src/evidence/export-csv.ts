import type { ExportEntry } from "./export-line.js";
import { linesOf } from "./export-read.js";

const columns = [
  "at",
  "type",
  "session",
  "proposal",
  "agent",
  "tool",
  "args_hash",
  "turn",
  "detail",
  "id",
  "chain",
  "seq",
  "hash",
] as const;

/** The entries of an export as CSV (RFC 4180, UTF-8), for looking through; it cannot be verified. `detail` is JSON. */
export async function* exportCsv(lines: AsyncIterable<string>): AsyncGenerator<string> {
  yield row(columns);
  for await (const line of linesOf(lines)) if (line.kind === "entry") yield row(cellsOf(line));
}

function cellsOf({ at, type, proposal, agent, tool, told, id, chain, seq, hash }: ExportEntry): readonly string[] {
  return [
    at,
    type,
    told?.session ?? "",
    proposal,
    agent,
    tool,
    told?.argsHash ?? "",
    told?.turn ?? "",
    told ? JSON.stringify(told.detail) : "",
    id,
    chain,
    String(seq),
    hash,
  ];
}

function row(cells: readonly string[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

/** A cell that begins like a formula is one to a spreadsheet: it gets an apostrophe. */
function cell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
