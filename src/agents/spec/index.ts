/**
 * YAML files become checked, immutable definitions of agents, integrations, connections and workflows, or problems that
 * name file, line, column and what to write instead. It reads files and calls nobody; it runs nothing, and it never
 * repeats a value of a file in a problem.
 */
export type * from "./agent-types.js";
export type { JsonObject, JsonValue, ObjectSchema } from "./json.js";
export type * from "./manifest-types.js";
export { formatProblem, hasErrors, type Problem } from "./problem.js";
