import type { JsonObject, JsonValue } from "../../canonical/index.js";
import type { WorkflowDefinition, WorkflowStep } from "../spec/index.js";
import type { RuntimeContext } from "./context.js";
import { embedded } from "./result-wording.js";
import type { StepsReport } from "./run.js";
import type { Caller, RunState } from "./run-state.js";
import { attempt, condition, outputValue, reportOf, type StepEnd, type StepLog } from "./step.js";
import { type AgentCaller, performCall } from "./tool-call.js";
import type { Work } from "./work.js";

export interface WorkflowEnd {
  /** The last step's answer or result that there is. */
  readonly answer: string;
  readonly data?: JsonValue;
  readonly report: StepsReport;
}

/** Runs a workflow's steps one after the other. No person has written any of their queries. */
export async function runWorkflow(
  context: RuntimeContext,
  work: Work,
  state: RunState,
  workflow: WorkflowDefinition,
  caller: Caller,
  callAgent: AgentCaller,
): Promise<WorkflowEnd> {
  const log: StepLog = { steps: [], stopped: false };
  const steps: Record<string, JsonObject> = {};
  let last: { readonly answer: string; readonly data: JsonValue } = { answer: "", data: null };

  const values = (): JsonObject => ({
    trigger: { query: state.request.query, session_id: state.request.session, context: {} },
    steps: { ...steps },
  });

  async function agentStep(step: Extract<WorkflowStep, { kind: "agent" }>, signal: AbortSignal): Promise<StepEnd> {
    const query = context.template(step.input).text(values(), false);
    const task = {
      agent: step.agent,
      query,
      via: [...caller.via, step.agent],
      depth: caller.depth + 1,
      signal,
      until: caller.until,
    };
    const { answer, data } = await work(state, task);
    return { ok: true, output: { answer, data: data ?? null } };
  }

  async function toolStep(step: Extract<WorkflowStep, { kind: "tool" }>, signal: AbortSignal): Promise<StepEnd> {
    const args = rendered(context, step.arguments, values());
    const call = { id: step.name, tool: step.tool, argumentsText: JSON.stringify(args) };
    const made = await performCall(context, state, { ...caller, signal, keyScope: step.name }, call, callAgent);
    if (made.outcome === "ok") return { ok: true, output: { answer: made.content, data: embedded(made.content) } };
    const writes = caller.tools.get(step.tool)?.requiresApproval ?? false;
    return { ok: false, code: made.code ?? made.outcome, final: made.outcome === "unknown" && writes };
  }

  for (const step of workflow.steps) {
    if (log.stopped) {
      log.steps.push({ name: step.name, status: "skipped", reason: "upstream_stopped", ms: 0 });
      continue;
    }
    const held = step.when === undefined ? true : condition(context, step.when, values(), false);
    if (held === false) {
      steps[step.name] = { output: null, status: "skipped" };
      log.steps.push({ name: step.name, status: "skipped", reason: "condition_false", ms: 0 });
      continue;
    }
    const startedAt = context.now();
    const plan = {
      signal: caller.signal,
      ...(step.retry === undefined ? {} : { retry: step.retry }),
      ...(step.timeoutMs === undefined ? {} : { timeoutMs: step.timeoutMs }),
    };
    const end: StepEnd =
      held === "template"
        ? { ok: false, code: "template", final: true }
        : await attempt(plan, (signal) => (step.kind === "agent" ? agentStep(step, signal) : toolStep(step, signal)));
    const ms = context.now() - startedAt;
    if (end.ok) {
      const { answer, data } = end.output;
      last = end.output;
      steps[step.name] = { output: outputValue(end.output), status: "success" };
      log.steps.push({ name: step.name, status: "success", answer, ...(data === null ? {} : { data }), ms });
    } else {
      steps[step.name] = { output: null, status: "error" };
      log.steps.push({ name: step.name, status: "error", reason: end.code, ms });
      log.stopped = step.onError === "stop";
    }
  }
  return { answer: last.answer, ...(last.data === null ? {} : { data: last.data }), report: reportOf(log) };
}

/** Arguments with their templates filled in; a string that is nothing but one expression takes the value itself. */
function rendered(context: RuntimeContext, value: JsonValue, values: JsonObject): JsonValue {
  if (typeof value === "string") return context.template(value).value(values, false);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => rendered(context, item, values));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rendered(context, item, values)]));
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
