import { stat } from "node:fs/promises";
import { readAgent } from "./agent.js";
import type { AgentDefinition, WorkflowDefinition } from "./agent-types.js";
import { deepFreeze } from "./fields.js";
import { readFolder } from "./folder.js";
import { manifestProblems } from "./integrations.js";
import { readManifest } from "./manifest.js";
import type { Connection, IntegrationManifest } from "./manifest-types.js";
import { nameProblems, sharedNameProblems } from "./names.js";
import { hasErrors, type Problem } from "./problem.js";
import { reachProblems } from "./reach.js";
import { type Located, settleReferences } from "./references.js";
import { oneOf } from "./shape.js";
import { readWorkflow } from "./workflow.js";
import type { YamlFile } from "./yaml-file.js";

export interface LoadOptions {
  /** Folder of `*.agent.yaml` and `*.workflow.yaml`. Default: no agents. */
  readonly agents?: string;
  /** Folder of `*.integration.yaml`. Default: no integrations. */
  readonly integrations?: string;
  /** From `loadConnections`. Default: none. */
  readonly connections?: ReadonlyMap<string, Connection>;
  /** Names of the built-in tools that there are. Default: any name is taken. */
  readonly builtins?: readonly string[];
  /**
   * Further checks of an agent, by rooms that this one does not know. An error leaves the agent out, with what depends
   * on it. Default: none.
   */
  readonly inspect?: (agent: AgentDefinition, yaml: YamlFile) => Promise<readonly Problem[]>;
  /** The same of a workflow. */
  readonly inspectWorkflow?: (workflow: WorkflowDefinition, yaml: YamlFile) => Promise<readonly Problem[]>;
}

export interface LoadedAgents {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly manifests: ReadonlyMap<string, IntegrationManifest>;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  /** Names of agents whose files are there and bad. */
  readonly failed: ReadonlySet<string>;
  /** Errors and warnings of all files, in the order of files and lines. */
  readonly problems: readonly Problem[];
}

/**
 * Loads every agent, workflow and manifest of two folders and checks them against each other. One that is bad is left
 * out, with what depends on it, and does not stop the others. Never rejects.
 */
export async function loadAgents(options: LoadOptions): Promise<LoadedAgents> {
  const problems: Problem[] = [];
  const connections = options.connections ?? new Map<string, Connection>();

  const manifests = new Map<string, Located<IntegrationManifest>>();
  const failedManifests = new Set<string>();
  for (const yaml of await readFolder(options.integrations, [".integration"], problems)) {
    const read = readManifest(yaml);
    problems.push(...read.problems);
    if (read.manifest === undefined) {
      if (read.name !== undefined) failedManifests.add(read.name);
    } else if (isFirst(read.manifest.name, manifests, yaml, "integration", problems))
      manifests.set(read.manifest.name, { definition: read.manifest, yaml });
  }

  const agents = new Map<string, Located<AgentDefinition>>();
  const workflows = new Map<string, Located<WorkflowDefinition>>();
  const failed = new Set<string>();
  const plainManifests = definitions(manifests);
  const checkTools = (definition: AgentDefinition | WorkflowDefinition, yaml: YamlFile): boolean => {
    const found = [
      ...nameProblems(definition.tools, yaml),
      ...manifestProblems(definition.tools, yaml, plainManifests, failedManifests, connections),
      ...builtinProblems(definition, yaml, options.builtins),
    ];
    problems.push(...found);
    return !hasErrors(found);
  };
  const checkFurther = async (agent: AgentDefinition, yaml: YamlFile): Promise<boolean> => {
    const scripts = await scriptProblems(agent, yaml);
    const found = scripts.length > 0 ? scripts : ((await options.inspect?.(agent, yaml)) ?? []);
    problems.push(...found);
    return !hasErrors(found);
  };
  for (const yaml of await readFolder(options.agents, [".agent", ".workflow"], problems)) {
    if (kindOf(yaml) === "Workflow") {
      const { workflow, problems: found } = readWorkflow(yaml);
      problems.push(...found);
      if (workflow === undefined || !checkTools(workflow, yaml)) continue;
      const further = (await options.inspectWorkflow?.(workflow, yaml)) ?? [];
      problems.push(...further);
      if (hasErrors(further)) continue;
      if (isFirst(workflow.name, workflows, yaml, "workflow", problems))
        workflows.set(workflow.name, { definition: workflow, yaml });
      continue;
    }
    const { agent, name, problems: found } = readAgent(yaml);
    problems.push(...found);
    if (agent === undefined || !checkTools(agent, yaml) || !(await checkFurther(agent, yaml))) {
      if (name !== undefined) failed.add(name);
    } else if (isFirst(agent.name, agents, yaml, "agent", problems))
      agents.set(agent.name, { definition: agent, yaml });
  }

  const loaded = [...agents.keys()];
  // A bad file that bears the name of a good one does not take the good one with it.
  for (const name of loaded) failed.delete(name);
  for (const { agent, problem } of sharedNameProblems(agents)) {
    problems.push(problem);
    failed.add(agent);
  }
  for (const name of failed) agents.delete(name);
  problems.push(...settleReferences(agents, workflows, failed));
  for (const name of loaded) if (!agents.has(name)) failed.add(name);
  const owners = new Map<string, Located<AgentDefinition | WorkflowDefinition>>(agents);
  // A workflow may be called like an agent.
  for (const [name, located] of workflows) owners.set(`workflow ${name}`, located);
  problems.push(...reachProblems(owners, plainManifests, connections));

  return {
    agents: definitions(agents),
    manifests: plainManifests,
    workflows: definitions(workflows),
    failed,
    problems: deepFreeze(inOrder(problems)),
  };
}

function kindOf(yaml: YamlFile): unknown {
  return typeof yaml.value === "object" && yaml.value !== null ? Reflect.get(yaml.value, "kind") : undefined;
}

function isFirst<Definition extends { readonly file: string }>(
  name: string,
  known: ReadonlyMap<string, Located<Definition>>,
  yaml: YamlFile,
  what: string,
  problems: Problem[],
): boolean {
  const first = known.get(name);
  if (first === undefined) return true;
  problems.push(
    yaml.problem(
      ["metadata", "name"],
      `the ${what} of this name stands in ${first.definition.file} already: give one another name`,
    ),
  );
  return false;
}

function builtinProblems(
  { tools }: AgentDefinition | WorkflowDefinition,
  yaml: YamlFile,
  builtins: readonly string[] | undefined,
): Problem[] {
  return tools.flatMap((tool, index) =>
    tool.type !== "builtin" || builtins === undefined || builtins.includes(tool.name)
      ? []
      : [yaml.problem(["spec", "tools", index, "name"], `the name of a built-in tool ${oneOf(builtins, tool.name)}`)],
  );
}

async function scriptProblems({ model }: AgentDefinition, yaml: YamlFile): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const key of ["primary", "fallback"] as const) {
    const spec = model[key];
    if (spec?.provider !== "scripted") continue;
    const isFile = await stat(spec.script).then(
      (found) => found.isFile(),
      () => false,
    );
    if (!isFile)
      problems.push(
        yaml.problem(
          ["spec", "model", key, "script"],
          "there is no such file: the path counts from this file's folder",
        ),
      );
  }
  return problems;
}

function definitions<Definition>(located: ReadonlyMap<string, Located<Definition>>): ReadonlyMap<string, Definition> {
  return new Map([...located].map(([name, { definition }]) => [name, definition]));
}

/** In the order of files and places; one that was found twice (two agents with one script) is told once. */
function inOrder(problems: readonly Problem[]): readonly Problem[] {
  const distinct = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return [...distinct.values()].sort(
    (a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line || a.column - b.column,
  );
}
