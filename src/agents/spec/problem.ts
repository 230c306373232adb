import { isAbsolute, relative } from "node:path";

/** What is wrong with a file, where, and what to write instead. Holds no value of the file: values may be secrets. */
export interface Problem {
  /** The path as it was opened. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  readonly message: string;
  /** An `error` keeps what it concerns from being loaded; a `warning` is said and changes nothing. */
  readonly severity: "error" | "warning";
}

/**
 * One line, `file:line:col: severity: message`.
 * @param base files below this folder are shown relative to it
 */
export function formatProblem(problem: Problem, base?: string): string {
  const below = base === undefined ? "" : relative(base, problem.file);
  const shown = below === "" || below.startsWith("..") || isAbsolute(below) ? problem.file : below;
  return `${shown}:${problem.line}:${problem.column}: ${problem.severity}: ${problem.message}`;
}

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === "error");
}
