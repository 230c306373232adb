import { type Tracer, trace } from "@opentelemetry/api";
import type { ActorRole, ConfirmationKind, ConfirmationOutcome } from "./confirmation.js";

/** One confirmation, as OpenTelemetry sees it: a hash, and never the arguments. */
export interface ConfirmationSpan {
  readonly tool: string;
  readonly kind: ConfirmationKind;
  readonly outcome: ConfirmationOutcome;
  readonly role: ActorRole;
  /** Absent where there are no arguments, or none that can be hashed. */
  readonly hash?: string;
}

/** A span of no length, below whatever span is active. A tracer that fails takes nothing down. */
export function recordSpan(span: ConfirmationSpan, tracer: Tracer = trace.getTracer("dale")): void {
  try {
    const attributes = {
      "human_in_loop.kind": span.kind,
      "human_in_loop.outcome": span.outcome,
      "human_in_loop.actor_role": span.role,
      "human_in_loop.tool_name": span.tool,
      ...(span.hash === undefined ? {} : { "human_in_loop.args_hash": span.hash }),
    };
    tracer.startSpan("human_in_loop", { attributes }).end();
  } catch {
    // A confirmation is worth more than its trace.
  }
}
