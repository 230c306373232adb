import { reports } from "../../gate/index.js";
import type { GateLocale } from "../spec/index.js";
import type { Write } from "./run-state.js";

const ranOutOfSteps: Readonly<Record<GateLocale, string>> = {
  "es-AR": "No pude terminar: hicieron falta más pasos de los que tengo permitidos.",
  es: "No pude terminar: hicieron falta más pasos de los que tengo permitidos.",
  "pt-BR": "Não consegui terminar: foram necessários mais passos do que me são permitidos.",
  en: "I could not finish: it took more steps than I am allowed.",
};

export function ranOutReport(locale: GateLocale): string {
  return ranOutOfSteps[locale];
}

/**
 * The sentences that must stand in the answer whatever the model says: confirmed calls that failed, or whose end nobody
 * knows. With `all`, also those that were executed: for a run whose model cannot tell of them any more.
 */
export function writeReports(writes: readonly Write[], locale: GateLocale, all: boolean): readonly string[] {
  const told = writes.filter((write) => all || (write.gated && write.status !== "executed"));
  return [...new Set(told.map((write) => reports(locale)[write.status](write.tool)))];
}
