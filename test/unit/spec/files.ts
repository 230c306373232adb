import { join, relative } from "node:path";
import { formatProblem, type LoadedAgents, loadAgents, loadConnections } from "../../../src/agents/spec/index.js";
import { folder } from "../../fixtures/folder.js";

/** An agent file around what a test is about. `spec` is YAML, indented by two spaces. */
export const agentFile = (name: string, spec = ""): string =>
  `apiVersion: astromesh/v1
kind: Agent
metadata: { name: ${name} }
spec:
  model: { primary: { provider: ollama, model: m } }
${spec}`;

/** An integration file with one action for each `name: METHOD /path`. */
export const manifestFile = (name: string, actions: Readonly<Record<string, string>>): string =>
  `apiVersion: astromesh/v1
kind: Integration
metadata: { name: ${name} }
spec:
  base_url: https://${name}.example.com
  actions:
${Object.entries(actions)
  .map(([action, request]) => {
    const [method, path] = request.split(" ");
    const parameters = [...request.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => `${parameter}: { required: true }`);
    return `    - name: ${action}
      description: Does it.
      parameters: { ${parameters.join(", ")} }
      request: { method: ${method}, path: "${path}" }
`;
  })
  .join("")}`;

export interface Loaded extends LoadedAgents {
  /** Problems as `file:line:column: severity: message`, files relative to the folder. */
  readonly lines: readonly string[];
  /** The same with the token that stands there instead of the column: `file:line ‹token› severity: message`. */
  readonly found: readonly string[];
}

/** Loads `agents/…`, `integrations/…` and `connections.yaml` of a folder that is made of the files. */
export async function load(files: Readonly<Record<string, string>>, builtins?: readonly string[]): Promise<Loaded> {
  const root = await folder({ "agents/.keep": "", "integrations/.keep": "", ...files });
  const connections =
    files["connections.yaml"] === undefined
      ? new Map()
      : (await loadConnections(join(root, "connections.yaml"), {})).connections;
  const loaded = await loadAgents({
    agents: join(root, "agents"),
    integrations: join(root, "integrations"),
    connections,
    ...(builtins === undefined ? {} : { builtins }),
  });
  const found = loaded.problems.map((problem) => {
    const name = relative(root, problem.file);
    const line = (files[name] ?? "").split("\n")[problem.line - 1] ?? "";
    const token = /^("[^"]*"|[^\s,:\]}]+)/.exec(line.slice(problem.column - 1))?.[0] ?? "";
    return `${name}:${problem.line} ‹${token}› ${problem.severity}: ${problem.message}`;
  });
  return { ...loaded, found, lines: loaded.problems.map((problem) => formatProblem(problem, root)) };
}

/** Loads one agent of which a test gives the spec. */
export async function loadSpec(spec: string, others: Readonly<Record<string, string>> = {}): Promise<Loaded> {
  return load({ "agents/a.agent.yaml": agentFile("a", spec), ...others });
}
