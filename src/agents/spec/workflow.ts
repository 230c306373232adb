import { z } from "zod";
import type { WorkflowDefinition, WorkflowStep, WorkflowTrigger } from "./agent-types.js";
import { cronFault, isTimezone } from "./cron.js";
import { anyText, deepFreeze, defined, identifier, jsonObject, seconds, slug, text, version } from "./fields.js";
import type { JsonValue } from "./json.js";
import { declaredName } from "./manifest.js";
import { hasErrors, type Problem } from "./problem.js";
import { checkShape, oneOf } from "./shape.js";
import { buildRetry, retryShape, whenShape } from "./steps.js";
import { buildTool } from "./tool.js";
import { toolNames } from "./tool-names.js";
import { toolsShape } from "./tool-shapes.js";
import type { Path, YamlFile } from "./yaml-file.js";

const stepShape = z.strictObject({
  name: identifier("qualify").max(64),
  agent: text("sales-qualifier").optional(),
  input: text('"{{ trigger.query }}"').optional(),
  tool: text("praxis_buscar_records").optional(),
  arguments: jsonObject('{ query: "{{ trigger.query }}" }').optional(),
  when: whenShape.optional(),
  retry: retryShape.optional(),
  timeout_seconds: seconds(3600, 60).optional(),
  on_error: z.enum(["stop", "continue"]).default("stop"),
});

const triggerShape = z.strictObject({
  schedule: text('"0 9 * * 1-5"'),
  timezone: text("America/Argentina/Buenos_Aires").default("UTC"),
  query: anyText().default(""),
});

export const workflowShape = z.strictObject({
  apiVersion: z.literal("astromesh/v1"),
  kind: z.literal("Workflow"),
  metadata: z
    .strictObject({
      name: slug("lead-qualification"),
      version,
      namespace: text("default").optional(),
      description: anyText().optional(),
      labels: z.record(z.string(), z.string()).optional(),
    })
    .meta({ example: "{ name: lead-qualification }" }),
  spec: z
    .strictObject({
      description: anyText().default(""),
      trigger: z.literal("api", { error: "must be api: a schedule stands under triggers" }).optional(),
      triggers: z.array(triggerShape).max(20).default([]),
      timeout_seconds: seconds(86_400, 300).default(300),
      tools: toolsShape,
      steps: z.array(stepShape).min(1).max(100).meta({ example: "[{ name: research, agent: web-researcher }]" }),
      observability: z.record(z.string(), z.unknown()).optional(),
    })
    .meta({ example: "{ steps: […] }" }),
});

type StepShape = z.output<typeof stepShape>;

export interface ReadWorkflow {
  readonly workflow?: WorkflowDefinition;
  readonly problems: readonly Problem[];
  readonly name?: string;
}

/** Checks a `kind: Workflow` file by itself. That its agents are there is checked by `loadAgents`. */
export function readWorkflow(yaml: YamlFile): ReadWorkflow {
  const name = declaredName(yaml);
  const shape = checkShape(workflowShape, yaml);
  if (!shape.ok) return { problems: shape.problems, ...name };
  const { metadata, spec } = shape.value;
  const tools = spec.tools.map((tool, index) => buildTool(tool, yaml, ["spec", "tools", index]));
  const problems = tools.flatMap((built) => built.problems);
  for (const [index, { tool }] of tools.entries())
    if (tool.type === "integration" && tool.confirm.length > 0)
      problems.push(
        yaml.problem(["spec", "tools", index, "confirm"], "nobody could say yes within a workflow: leave confirm out", {
          at: "key",
        }),
      );
  const callable = tools.flatMap(({ tool }) => toolNames(tool).map((entry) => entry.name));
  const steps = spec.steps.map((step, index) => {
    const at = ["spec", "steps", index];
    problems.push(...checkStep(step, callable, yaml, at), ...checkReferences(spec.steps, index, yaml, at));
    return buildStep(step);
  });
  const triggers = [{ kind: "api" as const }, ...spec.triggers.map((trigger, index) => schedule(trigger, index))];
  if (hasErrors(problems)) return { problems, ...name };
  const workflow: WorkflowDefinition = {
    name: metadata.name,
    version: metadata.version,
    file: yaml.file,
    description: spec.description.trim() || (metadata.description ?? "").trim(),
    triggers,
    timeoutMs: Math.round(spec.timeout_seconds * 1000),
    tools: tools.map(({ tool }) => tool),
    steps,
  };
  return { workflow: deepFreeze(workflow), problems, ...name };

  function schedule(trigger: z.output<typeof triggerShape>, index: number): WorkflowTrigger {
    const at = ["spec", "triggers", index];
    const fault = cronFault(trigger.schedule);
    if (fault !== undefined) problems.push(yaml.problem([...at, "schedule"], fault));
    if (!isTimezone(trigger.timezone))
      problems.push(
        yaml.problem([...at, "timezone"], "no known time zone: write for example America/Argentina/Buenos_Aires"),
      );
    return { kind: "schedule", cron: trigger.schedule.trim(), timezone: trigger.timezone, query: trigger.query };
  }
}

function checkStep(step: StepShape, callable: readonly string[], yaml: YamlFile, at: Path): Problem[] {
  if ((step.agent === undefined) === (step.tool === undefined))
    return [yaml.problem([...at, "name"], "a step has either an agent or a tool: write one of the two")];
  const problems: Problem[] = [];
  if (step.agent !== undefined && step.arguments !== undefined)
    problems.push(yaml.problem([...at, "arguments"], "an agent is given input, not arguments", { at: "key" }));
  if (step.tool !== undefined && step.input !== undefined)
    problems.push(yaml.problem([...at, "input"], "a tool is given arguments, not input", { at: "key" }));
  if (step.tool !== undefined && !callable.includes(step.tool))
    problems.push(
      yaml.problem(
        [...at, "tool"],
        callable.length === 0
          ? "this workflow declares no tools: declare the tool under spec.tools, as in an agent"
          : `"tool" ${oneOf(callable, step.tool)}`,
      ),
    );
  return problems;
}

/** Templates may refer to the steps before theirs alone. */
function checkReferences(steps: readonly StepShape[], index: number, yaml: YamlFile, at: Path): Problem[] {
  const problems: Problem[] = [];
  const step = steps[index];
  if (step === undefined) return problems;
  const before = steps.slice(0, index).map((earlier) => earlier.name);
  if (before.includes(step.name))
    problems.push(yaml.problem([...at, "name"], "two steps of this name: give each step its own"));
  for (const key of ["input", "arguments", "when"] as const)
    for (const reference of referencesIn(step[key]))
      if (!before.includes(reference))
        problems.push(
          yaml.problem(
            [...at, key],
            before.length === 0
              ? `steps.${reference}: there is no step before this one; use trigger.query`
              : `steps.${reference} is no step before this one: it ${oneOf(before, reference)}`,
          ),
        );
  return problems;
}

function referencesIn(value: JsonValue | undefined): string[] {
  if (typeof value === "string")
    return [...value.matchAll(/\{[{%][\s\S]*?[%}]\}/g)].flatMap(([expression]) =>
      [...expression.matchAll(/\bsteps(?:\.([A-Za-z_]\w*)|\[\s*["']([^"']+)["']\s*\])/g)].map(
        ([, dotted, quoted]) => dotted ?? quoted ?? "",
      ),
    );
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap((inner) => referencesIn(inner));
  return [];
}

function buildStep(step: StepShape): WorkflowStep {
  const shared = {
    name: step.name,
    ...defined({
      when: step.when,
      retry: step.retry === undefined ? undefined : buildRetry(step.retry),
      timeoutMs: step.timeout_seconds === undefined ? undefined : Math.round(step.timeout_seconds * 1000),
    }),
    onError: step.on_error,
  };
  return step.tool === undefined
    ? { kind: "agent", agent: step.agent ?? "", input: step.input ?? "{{ trigger.query }}", ...shared }
    : { kind: "tool", tool: step.tool, arguments: step.arguments ?? {}, ...shared };
}
