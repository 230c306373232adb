import type { AgentDefinition, WorkflowDefinition } from "./agent-types.js";
import { nearest } from "./nearest.js";
import type { Problem } from "./problem.js";
import type { Path, YamlFile } from "./yaml-file.js";

/** Levels of agents below one: an agent as a tool, a link of a chain, a step of a workflow each go one level down. */
export const MAX_NESTING = 5;

/** One agent's or workflow's mention of another agent. */
interface Reference {
  readonly to: string;
  readonly path: Path;
}

export interface Located<Definition> {
  readonly definition: Definition;
  readonly yaml: YamlFile;
}

export function referencesOf(definition: AgentDefinition | WorkflowDefinition): readonly Reference[] {
  const tools = definition.tools.flatMap((tool, index) =>
    tool.type === "agent" ? [{ to: tool.agent, path: ["spec", "tools", index, "agent"] }] : [],
  );
  if ("steps" in definition)
    return [
      ...tools,
      ...definition.steps.flatMap((step, index) =>
        step.kind === "agent" ? [{ to: step.agent, path: ["spec", "steps", index, "agent"] }] : [],
      ),
    ];
  const links = definition.chain?.onComplete ?? [];
  return [
    ...tools,
    ...links.map((link, index) => ({ to: link.agent, path: ["spec", "chain", "on_complete", index, "agent"] })),
  ];
}

/**
 * Problems of agents that mention each other: missing ones, cycles, too deep nesting. Takes out of both maps whatever
 * has such a problem, and then what mentioned it, until nothing is left that mentions an agent that is not there.
 * @param failed names that files gave themselves and that did not load
 */
export function settleReferences(
  agents: Map<string, Located<AgentDefinition>>,
  workflows: Map<string, Located<WorkflowDefinition>>,
  failed: ReadonlySet<string>,
): readonly Problem[] {
  const problems: Problem[] = [];
  const refused = new Set(failed);
  const known = [...agents.keys()];
  const cyclic = cycles(agents);
  for (const [name, { yaml, cycle, path }] of cyclic) {
    problems.push(yaml.problem(path, `agents that call each other in a circle (${cycle}): take one of the calls out`));
    agents.delete(name);
    refused.add(name);
  }
  for (let settled = false; !settled; ) {
    settled = true;
    for (const group of [agents, workflows])
      for (const [name, { definition, yaml }] of [...group]) {
        const missing = referencesOf(definition).filter((reference) => !agents.has(reference.to));
        if (missing.length === 0) continue;
        for (const { to, path } of missing)
          problems.push(yaml.problem(path, refused.has(to) ? notLoaded(to) : unknownAgent(to, known)));
        group.delete(name);
        if (group === agents) refused.add(name);
        settled = false;
      }
  }
  problems.push(...tooDeep(agents, workflows));
  return problems;
}

function notLoaded(name: string): string {
  return `the agent "${name}" did not load: mend it first`;
}

function unknownAgent(name: string, known: readonly string[]): string {
  const close = nearest(name, known);
  const hint = close === undefined ? "write the metadata.name of an agent file" : `did you mean "${close}"?`;
  return `there is no agent "${name}": ${hint}`;
}

interface Cyclic {
  readonly yaml: YamlFile;
  readonly path: Path;
  readonly cycle: string;
}

/** For each agent that can reach itself: the reference that begins the way, and the way. */
function cycles(agents: ReadonlyMap<string, Located<AgentDefinition>>): Map<string, Cyclic> {
  const found = new Map<string, Cyclic>();
  for (const [name, { definition, yaml }] of agents)
    for (const { to, path } of referencesOf(definition)) {
      const way = wayTo(agents, to, name);
      if (way === undefined) continue;
      found.set(name, { yaml, path, cycle: [name, ...way].join(" → ") });
      break;
    }
  return found;
}

/** The shortest way from one agent to another, both included. */
function wayTo(
  agents: ReadonlyMap<string, Located<AgentDefinition>>,
  from: string,
  goal: string,
): readonly string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  for (const name of cameFrom.keys()) {
    if (name === goal) {
      const way: string[] = [];
      for (let at: string | undefined = name; at !== undefined; at = cameFrom.get(at)) way.unshift(at);
      return way;
    }
    const next = agents.get(name);
    for (const { to } of next === undefined ? [] : referencesOf(next.definition))
      if (!cameFrom.has(to)) cameFrom.set(to, name);
  }
  return undefined;
}

/** Free of cycles and of missing agents when it is called. */
function tooDeep(
  agents: Map<string, Located<AgentDefinition>>,
  workflows: Map<string, Located<WorkflowDefinition>>,
): Problem[] {
  const longest = new Map<string, readonly string[]>();
  const below = (name: string): readonly string[] => {
    const known = longest.get(name);
    if (known !== undefined) return known;
    const located = agents.get(name);
    const ways = (located === undefined ? [] : referencesOf(located.definition)).map(({ to }) => below(to));
    const way = [name, ...ways.reduce((deepest, other) => (other.length > deepest.length ? other : deepest), [])];
    longest.set(name, way);
    return way;
  };
  const problems: Problem[] = [];
  for (const group of [agents, workflows])
    for (const [name, { definition, yaml }] of [...group]) {
      const deep = referencesOf(definition).find(({ to }) => below(to).length > MAX_NESTING);
      if (deep === undefined) continue;
      const way = [name, ...below(deep.to)].join(" → ");
      problems.push(
        yaml.problem(deep.path, `agents nested deeper than ${MAX_NESTING} levels (${way}): take a level out`),
      );
      group.delete(name);
    }
  return problems;
}
