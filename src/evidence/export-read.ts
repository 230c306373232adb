import { type ExportLine, exportLine } from "./export-line.js";

/** The lines of an export that we made ourselves, parsed. @throws when it is none */
export async function* linesOf(lines: AsyncIterable<string>): AsyncGenerator<ExportLine> {
  for await (const line of lines) yield exportLine.parse(JSON.parse(line));
}
