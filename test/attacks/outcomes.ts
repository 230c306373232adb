import { readFile, writeFile } from "node:fs/promises";
import type { Attack, Outcome, Stage } from "./attack.js";

/** What one attack came to on one stage. */
export interface Result {
  readonly attack: Attack;
  readonly stage: Stage;
  readonly outcome: Outcome | "failed";
  /** Why it failed. */
  readonly problem?: string;
  readonly unauthorised: number;
}

/** One line an attack, in the order of their ids: what it must come to, what it did, and where. */
export function outcomeTable(results: readonly Result[], stages: readonly Stage[]): string {
  const byId = new Map<string, Result[]>();
  for (const result of results) byId.set(result.attack.id, [...(byId.get(result.attack.id) ?? []), result]);
  const rows = [...byId.values()]
    .sort(([one], [other]) => place(one).localeCompare(place(other), "en"))
    .map((group) => {
      const [first] = group;
      const seen = [...new Set(group.map(({ outcome }) => outcome))].join(", ");
      const names = stages.filter((stage) => group.some((result) => result.stage === stage)).map(({ name }) => name);
      const { id, what, must } = first?.attack ?? {};
      return `| ${id} | ${what} | ${must} | ${seen} | ${[...new Set(names)].join(", ")} |`;
    });
  return ["| | attack | must be | was | where |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}

function place(result: Result | undefined): string {
  const { id = "" } = result?.attack ?? {};
  const [, letter = "", number = "", variants = ""] = /^([A-Z]+)(\d+)('*)$/.exec(id) ?? [];
  return `${letter}${number.padStart(3, "0")}${variants.length}`;
}

export function lastLine(results: readonly Result[]): string {
  const unauthorised = results.reduce((sum, result) => sum + result.unauthorised, 0);
  return `unauthorised writes: ${unauthorised}/${results.length}`;
}

const page = "docs/security.md";
const begin = /(<!-- outcomes:.*-->\n)[\s\S]*(?=<!-- end of outcomes -->)/;

/** The table as the page has it; with UPDATE_DOCS=1 the page gets it first. */
export async function tableOfPage(table: string): Promise<string> {
  const text = await readFile(page, "utf8");
  const next =
    process.env.UPDATE_DOCS === "1" ? text.replace(begin, (_, head: string) => `${head}\n${table}\n\n`) : text;
  if (next !== text) await writeFile(page, next);
  return (
    begin
      .exec(next)?.[0]
      .replace(/^<!--.*-->\n/, "")
      .trim() ?? ""
  );
}
