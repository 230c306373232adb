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

/** One line an attack, in the order of their ids; stages that came to the same stand together. */
export function outcomeTable(results: readonly Result[]): string {
  const byId = new Map<string, Result[]>();
  for (const result of results) byId.set(result.attack.id, [...(byId.get(result.attack.id) ?? []), result]);
  const rows = [...byId.values()]
    .sort(([one], [other]) => place(one).localeCompare(place(other)))
    .map((group) => {
      const [first] = group;
      const outcomes = new Map<string, string[]>();
      for (const { outcome, stage } of group) outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), stage.name]);
      const seen = [...outcomes].map(([outcome, stages]) => `${outcome} on ${[...new Set(stages)].join(", ")}`);
      return `| ${first?.attack.id} | ${first?.attack.what} | ${first?.attack.must} | ${seen.join("; ")} |`;
    });
  return ["| | attack | must be | was |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

function place(result: Result | undefined): string {
  const [, letter = "", number = ""] = /^([A-Z]+)(\d+)/.exec(result?.attack.id ?? "") ?? [];
  return `${letter}${number.padStart(3, "0")}${result?.attack.id}`;
}

export function lastLine(results: readonly Result[]): string {
  const unauthorised = results.reduce((sum, result) => sum + result.unauthorised, 0);
  return `unauthorised writes: ${unauthorised}/${results.length}`;
}
