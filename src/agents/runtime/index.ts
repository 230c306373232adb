/**
 * Runs one turn of an agent: model, tools, and the gate in front of every gated call. It never decides consent: it asks
 * the `RunGate` that it is given, which knows what the person typed.
 */
export type { GatedCall, Propuesta, RunCall, RunGate, RunRequest, RunResult } from "./run.js";
