import type { AgentDefinition, WorkflowDefinition } from "./agent-types.js";
import type { Connection, IntegrationManifest, RequestTemplate } from "./manifest-types.js";
import { type NamedTool, namedTools } from "./names.js";
import type { Problem } from "./problem.js";
import type { Located } from "./references.js";

interface Reach {
  readonly owner: string;
  readonly located: Located<AgentDefinition | WorkflowDefinition>;
  readonly named: NamedTool;
  /** What stands before the path: the base URL where it is known, else the connection's name. */
  readonly base: string;
  readonly method: string;
  readonly steps: readonly string[];
}

/** A step of a path that stands for any one step, and one that stands for any number of them. */
const ANY = "{}";
const REST = "{/}";

/**
 * Warnings for ungated tools that reach the same method and path as a gated one: what a person's yes protects there,
 * the model can do here without it.
 */
export function reachProblems(
  owners: ReadonlyMap<string, Located<AgentDefinition | WorkflowDefinition>>,
  manifests: ReadonlyMap<string, IntegrationManifest>,
  connections: ReadonlyMap<string, Connection>,
): readonly Problem[] {
  const all = [...owners].flatMap(([owner, located]) =>
    namedTools(located.definition.tools).flatMap((named) => {
      const found = requestOf(named, manifests);
      if (found === undefined) return [];
      const connection = "connection" in named.tool ? named.tool.connection : undefined;
      const base = connections.get(connection ?? "")?.baseUrl ?? found.baseUrl ?? `connection ${connection ?? ""}`;
      const steps = stepsOf(base, found.request.path, found.allowSlash);
      return [{ owner, located, named, base: originOf(base), method: found.request.method, steps }];
    }),
  );
  const gated = all.filter((reach) => reach.named.gated);
  return all
    .filter((reach) => !reach.named.gated)
    .flatMap((reach) => {
      const same = gated.find((other) => meets(reach, other));
      if (same === undefined) return [];
      const where = same.owner === reach.owner ? "" : ` of the agent "${same.owner}"`;
      const message =
        `"${reach.named.name}" runs without a yes and reaches the same ${reach.method} path as ` +
        `"${same.named.name}"${where}, which waits for one: put it under confirm as well, or leave it out`;
      return [reach.located.yaml.problem(reach.named.path, message, { severity: "warning" })];
    });
}

interface Found {
  readonly request: RequestTemplate;
  readonly baseUrl?: string | undefined;
  readonly allowSlash: readonly string[];
}

/** The request that a tool makes by itself; none for what only proposes. */
function requestOf({ tool, part }: NamedTool, manifests: ReadonlyMap<string, IntegrationManifest>): Found | undefined {
  if (tool.type === "integration") {
    const manifest = manifests.get(tool.manifest);
    const action = manifest?.actions.find((candidate) => candidate.name === part);
    return action && { request: action.request, baseUrl: manifest?.baseUrl, allowSlash: action.allowSlash };
  }
  if (tool.type !== "api") return undefined;
  const operation = tool.operations.find((candidate) => candidate.name === part);
  return operation === undefined || operation.proposes ? undefined : { request: operation.request, allowSlash: [] };
}

function originOf(base: string): string {
  return URL.canParse(base) ? new URL(base).origin : base;
}

function stepsOf(base: string, path: string, allowSlash: readonly string[]): readonly string[] {
  const prefix = URL.canParse(base) ? new URL(base).pathname : "";
  return `${prefix}/${path}`
    .replace(/\?.*$/, "")
    .split("/")
    .filter((step) => step !== "")
    .map((step) => {
      const parameter = /\{([A-Za-z_]\w*)\}/.exec(step)?.[1];
      if (parameter === undefined) return step;
      return allowSlash.includes(parameter) ? REST : ANY;
    });
}

function meets(a: Reach, b: Reach): boolean {
  return a.base === b.base && a.method === b.method && stepsMeet(a.steps, b.steps);
}

function stepsMeet(a: readonly string[], b: readonly string[]): boolean {
  const [first, ...restA] = a;
  const [other, ...restB] = b;
  if (first === REST || other === REST) return true;
  if (first === undefined || other === undefined) return first === other;
  return (first === ANY || other === ANY || first === other) && stepsMeet(restA, restB);
}
