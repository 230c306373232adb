import { trace } from "@opentelemetry/api";
import type { Confirmation } from "./confirmation.js";

/**
 * One confirmation, as OpenTelemetry sees it: a span of no length below whatever span is active, with a hash and never the
 * arguments. A tracer that fails takes nothing down.
 */
export function recordSpan(confirmation: Omit<Confirmation, "version" | "id" | "at">): void {
  try {
    const { tool, kind, outcome, role, binding } = confirmation;
    const attributes = {
      "human_in_loop.kind": kind,
      "human_in_loop.outcome": outcome,
      "human_in_loop.actor_role": role,
      "human_in_loop.tool_name": tool,
      ...(binding.to === "arguments" ? { "human_in_loop.args_hash": binding.hash } : {}),
    };
    trace.getTracer("dale").startSpan("human_in_loop", { attributes }).end();
  } catch {
    // A confirmation is worth more than its trace.
  }
}
