import type { IntegrationTool, ToolDeclaration } from "./agent-types.js";
import type { Connection, IntegrationManifest } from "./manifest-types.js";
import { nearest } from "./nearest.js";
import type { Problem } from "./problem.js";
import { oneOf } from "./shape.js";
import type { Path, YamlFile } from "./yaml-file.js";

/** Holds tools against the manifests and connections that they name. */
export function manifestProblems(
  tools: readonly ToolDeclaration[],
  yaml: YamlFile,
  manifests: ReadonlyMap<string, IntegrationManifest>,
  failedManifests: ReadonlySet<string>,
  connections: ReadonlyMap<string, Connection>,
): readonly Problem[] {
  return tools.flatMap((tool, index) => {
    const at = ["spec", "tools", index];
    if (tool.type === "integration")
      return [
        ...integrationProblems(tool, yaml, at, manifests, failedManifests, connections),
        ...connectionProblems(tool.connection, yaml, at, connections),
      ];
    return tool.type === "api" || tool.type === "mcp" ? connectionProblems(tool.connection, yaml, at, connections) : [];
  });
}

function integrationProblems(
  tool: IntegrationTool,
  yaml: YamlFile,
  at: Path,
  manifests: ReadonlyMap<string, IntegrationManifest>,
  failedManifests: ReadonlySet<string>,
  connections: ReadonlyMap<string, Connection>,
): Problem[] {
  const manifest = manifests.get(tool.manifest);
  if (manifest === undefined) {
    const key = yaml.has([...at, "integration"]) ? "integration" : "name";
    return [yaml.problem([...at, key], missingManifest(tool.manifest, manifests, failedManifests))];
  }
  const names = manifest.actions.map((action) => action.name);
  const problems = tool.actions.flatMap((action, index) =>
    names.includes(action)
      ? []
      : [
          yaml.problem(
            [...at, "actions", index],
            `the integration "${manifest.name}" has no action "${action}": it ${oneOf(names, action)}`,
          ),
        ],
  );
  const baseUrl = connections.get(tool.connection ?? "")?.baseUrl ?? manifest.baseUrl;
  if (tool.connection === undefined && (manifest.auth.scheme !== "none" || baseUrl === undefined))
    problems.push(
      yaml.problem(
        [...at, "connection"],
        `"connection" is missing: the integration "${manifest.name}" needs its ` +
          `${baseUrl === undefined ? "base_url" : "credential"}; write the name of an entry of connections.yaml`,
      ),
    );
  return problems;
}

function missingManifest(
  name: string,
  manifests: ReadonlyMap<string, IntegrationManifest>,
  failedManifests: ReadonlySet<string>,
): string {
  if (failedManifests.has(name)) return `the integration "${name}" did not load: mend its file first`;
  const close = nearest(name, manifests.keys());
  const hint =
    close === undefined ? "write its file, or name another one with integration: …" : `did you mean "${close}"?`;
  return `there is no integration "${name}": ${hint}`;
}

/** A connection may come with each run instead, so that one that is not known is no error. */
function connectionProblems(
  name: string | undefined,
  yaml: YamlFile,
  at: Path,
  connections: ReadonlyMap<string, Connection>,
): Problem[] {
  if (name === undefined || connections.has(name)) return [];
  const close = nearest(name, connections.keys());
  const hint = close === undefined ? "each run has to bring it" : `did you mean "${close}"?`;
  return [
    yaml.problem([...at, "connection"], `there is no connection of this name in connections.yaml: ${hint}`, {
      severity: "warning",
    }),
  ];
}
