import type { ToolDeclaration } from "./agent-types.js";

/** A tool as the model sees it, and what of the declaration it is. */
export interface ToolName {
  /** `<slug with _>_<action>`; for `agent`, `builtin` and `client` the declared name. */
  readonly name: string;
  /** Action, operation or the server's own tool name. */
  readonly part?: string;
  /** Place in `actions`, `operations` or `tools`. */
  readonly index?: number;
}

/** Longest name that every provider takes. */
export const MAX_TOOL_NAME = 64;

/** The tools that a declaration comes to, in the order of the file. */
export function toolNames(tool: ToolDeclaration): readonly ToolName[] {
  switch (tool.type) {
    case "integration":
      return tool.actions.map((part, index) => ({ name: `${underscored(tool.name)}_${part}`, part, index }));
    case "api":
      return tool.operations.map(({ name: part }, index) => ({
        name: `${underscored(tool.name)}_${part}`,
        part,
        index,
      }));
    case "mcp":
      return tool.tools.map(({ name: part }, index) => ({
        name: `${underscored(tool.name)}_${part.toLowerCase().replace(/[^a-z0-9_]/g, "_")}`,
        part,
        index,
      }));
    default:
      return [{ name: tool.name }];
  }
}

/** Two names that differ in nothing but case, `-` and `_` are one to a person who reads a notice. */
export function looksLike(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

function underscored(slug: string): string {
  return slug.replaceAll("-", "_");
}
