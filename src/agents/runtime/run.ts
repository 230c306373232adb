import type { JsonObject } from "../../canonical/index.js";
import type { ConsumeOutcome, GrantResult, HumanOutcome, Interrupted, ProposeOutcome } from "../../gate/index.js";
import type { ModelImage, ModelMessage } from "../models/index.js";
import type { ConnectionOverrides } from "../tools/index.js";
import type { ParkedCall } from "./parked-call.js";

/** What a run asks of the gate. Bound to one session and one run of one turn by whoever makes it. */
export interface RunGate {
  readonly resume: "runtime" | "model";
  /** What the person's message came to; absent in a run that no person wrote. */
  readonly decision?: HumanOutcome;
  /** An execution that an earlier run left in the middle: the model is told, nothing is repeated. */
  readonly interrupted?: Interrupted;
  /**
   * Registers a gated call. `refused`: there is nobody to show it to (`nobody`), or its notice does not fit (`too_long`).
   */
  propose(
    call: GatedCall,
  ): Promise<ProposeOutcome | { readonly kind: "refused"; readonly reason: "nobody" | "too_long" }>;
  consume(tool: string, fingerprint: string): Promise<ConsumeOutcome>;
  settle(proposal: string, result: GrantResult): Promise<void>;
}

export interface GatedCall {
  readonly agent: string;
  readonly tool: string;
  readonly fingerprint: string;
  /** Canonical text: what will run. */
  readonly canonical: string;
  /** Parsed, in the order in which the model wrote it: what the notice shows. */
  readonly args: JsonObject;
  readonly title?: string;
  readonly argumentTitles?: Readonly<Record<string, string>>;
}

export interface RunRequest {
  readonly query: string;
  readonly images?: readonly ModelImage[];
  readonly session: string;
  readonly turn: string;
  /** True only when a person wrote the query. Default true; forced to false in every nested run. */
  readonly desdeHumano?: boolean;
  readonly history: readonly ModelMessage[];
  readonly connections?: ConnectionOverrides;
  readonly gate: RunGate;
  /** Whether `propuestas` would reach anybody. */
  readonly takesPropuestas: boolean;
  readonly signal: AbortSignal;
}

/** A write on a tenant's own system that the agent proposes; never executed here. */
export interface Propuesta {
  readonly tool: string;
  readonly tipo: "api" | "mcp";
  readonly destino: string;
  readonly operacion: string;
  readonly argumentos: JsonObject;
  /** Sub-agents that it came through, outermost first. */
  readonly via?: readonly string[];
}

export interface RunResult {
  /** The model's answer, without a notice. */
  readonly answer: string;
  /** The proposal that this run left waiting, with the exact notice. */
  readonly pending?: { readonly proposal: string; readonly notice: string; readonly expiresAt: number };
  readonly propuestas: readonly Propuesta[];
  /** Calls that a reviewer has to approve; they have not run. Absent: none. */
  readonly parked?: readonly ParkedCall[];
  readonly calls: readonly RunCall[];
  /** What to remember of this run: the query, the answer, the calls and their results. */
  readonly messages: readonly ModelMessage[];
  /** Where the agent declares an output schema: the answer, parsed. */
  readonly data?: unknown;
  /** Where the agent declares a chain: what became of its links. It changes nothing about the answer. */
  readonly chain?: StepsReport;
}

/** What became of a chain's links or a workflow's steps, in their order; those that did not run included. */
export interface StepsReport {
  /** `partial`: something failed and the rest went on. `failed`: something failed and stopped the rest. */
  readonly status: "completed" | "partial" | "failed";
  readonly steps: readonly StepReport[];
}

export interface StepReport {
  /** The step's name; of a chain's link its agent's. */
  readonly name: string;
  readonly status: "success" | "error" | "skipped";
  /** Why it was skipped, or a short code of its failure. */
  readonly reason?: string;
  /** An agent's answer, or a tool's result. */
  readonly answer?: string;
  readonly data?: unknown;
  readonly ms: number;
  /** The agents in whose chains it stands, below the first. */
  readonly via?: readonly string[];
}

export interface RunCall {
  readonly tool: string;
  readonly argsHash: string;
  readonly outcome: "ok" | "error" | "waits" | "refused" | "repeat" | "executed" | "failed" | "unknown";
  readonly startedAt: number;
  readonly ms: number;
  readonly via?: readonly string[];
  readonly code?: string;
}
