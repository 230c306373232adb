/**
 * YAML files become checked, immutable definitions of agents, integrations, connections and workflows, or problems that
 * name file, line, column and what to write instead. It reads files and calls nobody; it runs nothing, and it never
 * repeats a secret in a problem.
 */
export type * from "./agent-types.js";
export { loadConnections } from "./connections.js";
export type { JsonObject, JsonValue } from "./json.js";
export { type LoadedAgents, loadAgents } from "./load.js";
export type * from "./manifest-types.js";
export { formatProblem, hasErrors, type Problem } from "./problem.js";
export { type Checked, checkShape } from "./shape.js";
export { toolNames } from "./tool-names.js";
export type { Environment } from "./variables.js";
export { type Path, parseYaml, readYaml, type YamlFile } from "./yaml-file.js";
