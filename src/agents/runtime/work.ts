import type { JsonValue } from "../../canonical/index.js";
import { DaleError } from "../../errors/index.js";
import type { ModelMessage, ModelNote } from "../models/index.js";
import type { StepsReport } from "./run.js";
import type { Frame, RunState } from "./run-state.js";

/** How one agent is set to work: by a person's message, or by another agent, a chain or a workflow. */
export interface Task {
  readonly agent: string;
  readonly query: string;
  readonly via: readonly string[];
  readonly depth: number;
  readonly signal: AbortSignal;
  /** When the time of what surrounds it ends, ms since 1970. */
  readonly until: number;
}

/** What the model is given at the start. */
export interface Opening {
  readonly messages: readonly ModelMessage[];
  readonly notes: readonly ModelNote[];
}

export interface AgentAnswer {
  readonly answer: string;
  readonly messages: readonly ModelMessage[];
  readonly data?: JsonValue;
  readonly chain?: StepsReport;
}

/**
 * Runs one agent and its chain.
 * @param open default: the query alone, as for every agent that no person has written to
 */
export type Work = (state: RunState, task: Task, open?: (frame: Frame) => Promise<Opening>) => Promise<AgentAnswer>;

/** What a nested run's failure may not be turned into: the end of the whole run. */
export function endsRun(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || (error instanceof DaleError && error.code === "store_unavailable");
}

export function codeOf(error: unknown): string {
  return error instanceof DaleError ? error.code : "unexpected";
}

export function endOf(signal: AbortSignal): DaleError {
  return signal.reason instanceof DaleError
    ? signal.reason
    : new DaleError("turn_aborted", "The run was stopped from outside.");
}
