import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject, JsonValue } from "../../canonical/index.js";
import { DaleError } from "../../errors/index.js";
import type { Retry } from "../spec/index.js";
import type { RuntimeContext } from "./context.js";
import type { StepReport, StepsReport } from "./run.js";
import { holds } from "./template.js";
import { TemplateFault } from "./template-syntax.js";
import { codeOf, endOf, endsRun } from "./work.js";

/** What a step gave: as reports have it, and as later templates see it under `steps.<name>.output`. */
export interface StepOutput {
  readonly answer: string;
  readonly data: JsonValue;
}

export type StepEnd =
  | { readonly ok: true; readonly output: StepOutput }
  | {
      readonly ok: false;
      readonly code: string;
      /** True when trying again could do the same thing twice. */
      readonly final: boolean;
    };

export interface StepPlan {
  readonly retry?: Retry;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

/** Tries a step as often as it may be, each time within its own time. Rejects only when the whole run is over. */
export async function attempt(plan: StepPlan, once: (signal: AbortSignal) => Promise<StepEnd>): Promise<StepEnd> {
  const most = plan.retry?.maxAttempts ?? 1;
  for (let count = 1; ; count++) {
    const end = await timed(plan, once);
    if (end.ok || end.final || count >= most) return end;
    const grows = plan.retry?.backoff === "exponential" ? 2 ** (count - 1) : 1;
    await sleep((plan.retry?.initialDelayMs ?? 0) * grows, undefined, { signal: plan.signal }).catch(() => {
      throw endOf(plan.signal);
    });
  }
}

async function timed(plan: StepPlan, once: (signal: AbortSignal) => Promise<StepEnd>): Promise<StepEnd> {
  const clock = new AbortController();
  const { timeoutMs } = plan;
  const late = new DaleError("turn_timeout", "A step took longer than it may.");
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => clock.abort(late), timeoutMs);
  try {
    return await once(AbortSignal.any([plan.signal, clock.signal]));
  } catch (error) {
    if (endsRun(error, plan.signal)) throw plan.signal.aborted ? endOf(plan.signal) : error;
    const final = error instanceof TemplateFault || (error instanceof DaleError && !error.retryable && error !== late);
    return { ok: false, code: error instanceof TemplateFault ? "template" : codeOf(error), final };
  } finally {
    clearTimeout(timer);
  }
}

/** Reports of steps, and what they come to together. */
export interface StepLog {
  readonly steps: StepReport[];
  stopped: boolean;
}

export function reportOf(log: StepLog): StepsReport {
  const failed = log.steps.some((step) => step.status === "error");
  return { status: log.stopped ? "failed" : failed ? "partial" : "completed", steps: log.steps };
}

/** `output` of a step, for templates. */
export function outputValue(output: StepOutput): JsonObject {
  return { answer: output.answer, data: output.data, steps: [] };
}

/** Whether a step's condition holds; a fault in it, or a value that it misses, is a failure of the step. */
export function condition(
  context: RuntimeContext,
  source: string,
  values: JsonObject,
  strict: boolean,
): boolean | "template" {
  try {
    return holds(context.template(source), values, strict);
  } catch (error) {
    if (error instanceof TemplateFault) return "template";
    throw error;
  }
}
