import type { JsonObject, JsonValue } from "../../canonical/index.js";
import type { AgentDefinition, ToolDeclaration, WorkflowDefinition } from "../spec/index.js";
import { schemaCheck } from "./schema-check.js";
import { templateProblem } from "./template.js";

/** What of a checked file cannot be run all the same: where it stands, and why. */
export interface DeclaredProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Templates of an agent's chain, and JSON Schemas that the runtime itself checks by. Paths are those of its file. */
export function agentProblems(
  agent: Pick<AgentDefinition, "chain" | "tools" | "outputSchema">,
): readonly DeclaredProblem[] {
  const links = (agent.chain?.onComplete ?? []).flatMap((link, index) => {
    const at = ["spec", "chain", "on_complete", index];
    return [...templates([...at, "when"], link.when), ...templates([...at, "input"], link.input)];
  });
  return [...links, ...schema(["spec", "output_schema"], agent.outputSchema), ...agentTools(agent.tools)];
}

/** The same of a workflow's steps and tools. */
export function workflowProblems(workflow: Pick<WorkflowDefinition, "steps" | "tools">): readonly DeclaredProblem[] {
  const steps = workflow.steps.flatMap((step, index) => {
    const at = ["spec", "steps", index];
    const given =
      step.kind === "agent" ? templates([...at, "input"], step.input) : templates([...at, "arguments"], step.arguments);
    return [...templates([...at, "when"], step.when), ...given];
  });
  return [...steps, ...agentTools(workflow.tools)];
}

function agentTools(tools: readonly ToolDeclaration[]): readonly DeclaredProblem[] {
  return tools.flatMap((tool, index) =>
    tool.type === "agent" ? schema(["spec", "tools", index, "parameters"], tool.parameters) : [],
  );
}

function schema(path: readonly (string | number)[], declared: JsonObject | undefined): readonly DeclaredProblem[] {
  if (declared === undefined) return [];
  try {
    schemaCheck(declared);
    return [];
  } catch {
    return [{ path, message: "this is no JSON Schema that can be checked by: look at its types" }];
  }
}

function templates(path: readonly (string | number)[], value: JsonValue | undefined): readonly DeclaredProblem[] {
  if (typeof value === "string") {
    const message = templateProblem(value);
    return message === undefined ? [] : [{ path, message }];
  }
  if (typeof value !== "object" || value === null) return [];
  if (isList(value)) return value.flatMap((item, index) => templates([...path, index], item));
  return Object.entries(value).flatMap(([key, item]) => templates([...path, key], item));
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
