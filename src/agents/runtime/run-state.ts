import type { Proposal } from "../../gate/index.js";
import type { ChatModel } from "../models/index.js";
import type { AgentDefinition } from "../spec/index.js";
import type { Tool } from "../tools/index.js";
import type { ParkedCall } from "./parked-call.js";
import type { Propuesta, RunCall, RunRequest } from "./run.js";

/** A write that a run made, or may have made: the truth that must reach the person even if the model fails afterwards. */
export interface Write {
  readonly tool: string;
  readonly status: "executed" | "failed" | "unknown";
  /** Whether the person had confirmed it. */
  readonly gated: boolean;
}

/** What one whole run shares with the runs nested in it. */
export interface RunState {
  readonly request: RunRequest;
  /** Whether a person wrote the outermost query: without one, nothing can be proposed. */
  readonly person: boolean;
  readonly calls: RunCall[];
  readonly propuestas: Propuesta[];
  readonly writes: Write[];
  /** Calls that wait for a reviewer. */
  readonly parked: ParkedCall[];
  /** How often a call with this tool and fingerprint was begun: part of an ungated call's idempotency key. */
  readonly occurrences: Map<string, number>;
  begun: number;
  pending: Proposal | undefined;
}

export function createRunState(request: RunRequest): RunState {
  return {
    request,
    person: request.desdeHumano !== false,
    calls: [],
    propuestas: [],
    writes: [],
    parked: [],
    occurrences: new Map(),
    begun: 0,
    pending: undefined,
  };
}

/** Who makes calls: an agent at work, or a workflow's step. */
export interface Caller {
  /** The agent's name, or the workflow's. */
  readonly name: string;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Names of the agents between the outermost and this one, outermost first; this one included. Empty outermost. */
  readonly via: readonly string[];
  readonly depth: number;
  /** Aborts with the job and with the time-outs of this caller and those around it. */
  readonly signal: AbortSignal;
  /** When the nearest of those time-outs is, ms since 1970. */
  readonly until: number;
  /** What makes an ungated call's idempotency key the same for every retry of a workflow's step. */
  readonly keyScope?: string;
}

/** One agent at work: the outermost, or one that another agent, a chain or a workflow has called. */
export interface Frame extends Caller {
  readonly agent: AgentDefinition;
  readonly model: ChatModel;
}
