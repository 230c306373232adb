import type { JsonValue } from "../../canonical/index.js";
import type { AgentDefinition, WorkflowDefinition } from "../spec/index.js";
import { templateProblem } from "./template.js";

/** A template of a file that cannot be used: where it stands, and why. */
export interface TemplateProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What is wrong with the templates of an agent's chain. Paths are those of its file. */
export function chainTemplateProblems(agent: Pick<AgentDefinition, "chain">): readonly TemplateProblem[] {
  return (agent.chain?.onComplete ?? []).flatMap((link, index) => {
    const at = ["spec", "chain", "on_complete", index];
    return [...problems([...at, "when"], link.when), ...problems([...at, "input"], link.input)];
  });
}

/** What is wrong with the templates of a workflow's steps. Paths are those of its file. */
export function workflowTemplateProblems(workflow: Pick<WorkflowDefinition, "steps">): readonly TemplateProblem[] {
  return workflow.steps.flatMap((step, index) => {
    const at = ["spec", "steps", index];
    const given =
      step.kind === "agent" ? problems([...at, "input"], step.input) : problems([...at, "arguments"], step.arguments);
    return [...problems([...at, "when"], step.when), ...given];
  });
}

function problems(path: readonly (string | number)[], value: JsonValue | undefined): readonly TemplateProblem[] {
  if (typeof value === "string") {
    const message = templateProblem(value);
    return message === undefined ? [] : [{ path, message }];
  }
  if (typeof value !== "object" || value === null) return [];
  if (isList(value)) return value.flatMap((item, index) => problems([...path, index], item));
  return Object.entries(value).flatMap(([key, item]) => problems([...path, key], item));
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
