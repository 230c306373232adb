import type { AgentDefinition, ToolDeclaration } from "./agent-types.js";
import type { Problem } from "./problem.js";
import { type Located, referencesOf } from "./references.js";
import { looksLike, MAX_TOOL_NAME, type ToolName, toolNames } from "./tool-names.js";
import type { Path, YamlFile } from "./yaml-file.js";

/** A tool of an agent as the model sees it, with where it stands. */
export interface NamedTool extends ToolName {
  readonly tool: ToolDeclaration;
  readonly gated: boolean;
  readonly path: Path;
}

export function namedTools(tools: readonly ToolDeclaration[]): readonly NamedTool[] {
  return tools.flatMap((tool, index) =>
    toolNames(tool).map((entry) => ({
      ...entry,
      tool,
      gated: tool.type === "integration" && entry.part !== undefined && tool.confirm.includes(entry.part),
      path: placeOf(tool, entry, ["spec", "tools", index]),
    })),
  );
}

function placeOf(tool: ToolDeclaration, entry: ToolName, at: Path): Path {
  if (entry.index === undefined) return [...at, "name"];
  if (tool.type === "integration") return [...at, "actions", entry.index];
  return [...at, tool.type === "api" ? "operations" : "tools", entry.index, "name"];
}

/** Names that collide within one agent or workflow, and names that no provider takes. */
export function nameProblems(tools: readonly ToolDeclaration[], yaml: YamlFile): readonly Problem[] {
  const problems: Problem[] = [];
  const taken = new Map<string, NamedTool>();
  for (const named of namedTools(tools)) {
    if (named.name.length > MAX_TOOL_NAME)
      problems.push(
        yaml.problem(
          named.path,
          `the tool's whole name "${named.name}" is longer than ${MAX_TOOL_NAME} characters: shorten it`,
        ),
      );
    const other = taken.get(looksLike(named.name));
    if (other === undefined) {
      taken.set(looksLike(named.name), named);
      continue;
    }
    const shadow = named.gated && !other.gated ? other : named;
    const message =
      named.gated || other.gated
        ? `this tool would shadow "${named.gated ? named.name : other.name}", which waits for a yes: give it another name`
        : `two tools would be called "${named.name}": give one of them another name`;
    problems.push(yaml.problem(shadow.path, message));
  }
  return problems;
}

/**
 * A grant names a tool, and any run of the session may use it: so among agents that can run in one session, the name
 * of a gated tool means one action of one manifest over one connection.
 */
export function sharedNameProblems(
  agents: ReadonlyMap<string, Located<AgentDefinition>>,
): readonly { readonly agent: string; readonly problem: Problem }[] {
  const found: { agent: string; problem: Problem }[] = [];
  for (const family of families(agents)) {
    const gated = new Map<string, { readonly agent: string; readonly means: string }>();
    const all = family.flatMap((agent) =>
      namedTools(agents.get(agent)?.definition.tools ?? []).map((named) => ({ agent, named })),
    );
    for (const { agent, named } of all)
      if (named.gated && !gated.has(looksLike(named.name)))
        gated.set(looksLike(named.name), { agent, means: meaning(named) });
    for (const { agent, named } of all) {
      const first = gated.get(looksLike(named.name));
      const yaml = agents.get(agent)?.yaml;
      if (first === undefined || first.agent === agent || yaml === undefined || first.means === meaning(named))
        continue;
      const message =
        `"${named.name}" waits for a yes in the agent "${first.agent}" and means something else here: ` +
        "give this tool another name";
      found.push({ agent, problem: yaml.problem(named.path, message) });
    }
  }
  return found;
}

function meaning({ tool, part, name }: NamedTool): string {
  return tool.type === "integration"
    ? JSON.stringify([tool.type, tool.manifest, part, tool.connection])
    : JSON.stringify([tool.type, name]);
}

/** Agents that mention each other, directly or over others, whatever the direction; in the order of the map. */
function families(agents: ReadonlyMap<string, Located<AgentDefinition>>): readonly (readonly string[])[] {
  const neighbours = new Map<string, Set<string>>([...agents.keys()].map((name) => [name, new Set()]));
  for (const [name, { definition }] of agents)
    for (const { to } of referencesOf(definition)) {
      neighbours.get(name)?.add(to);
      neighbours.get(to)?.add(name);
    }
  const seen = new Set<string>();
  const result: string[][] = [];
  for (const start of agents.keys()) {
    if (seen.has(start)) continue;
    const family = new Set([start]);
    for (const name of family) for (const next of neighbours.get(name) ?? []) if (agents.has(next)) family.add(next);
    for (const name of family) seen.add(name);
    result.push([...family]);
  }
  return result;
}
