import type { AgentDefinition, Connection, IntegrationManifest, ToolDeclaration } from "../spec/index.js";
import { apiTools } from "./api-tools.js";
import { builtinTool } from "./builtin-tools.js";
import { clientTool } from "./client-tools.js";
import type { HttpCaller } from "./http-call.js";
import { integrationTools } from "./integration-tools.js";
import { mcpTools } from "./mcp-tools.js";
import type { Network } from "./network.js";
import type { Tool } from "./tool.js";

export interface ToolsetOptions {
  readonly manifests: ReadonlyMap<string, IntegrationManifest>;
  readonly connections: ReadonlyMap<string, Connection>;
  /** Shared by all toolsets of a process. */
  readonly network: Network;
  /** Characters of a result that reach the model. Default 20,000. */
  readonly maxChars?: number;
  /** Pages that one call of a paginated action fetches at most. Default 5. */
  readonly maxPages?: number;
  /** Milliseconds since the epoch, for built-ins that tell the time. Default: the process's clock. */
  readonly now?: () => number;
}

/**
 * The tools that an agent declares, ready to be called, in the order of its file. Tools of type `agent` are the
 * runtime's and are not among them.
 * @throws DaleError `config_invalid` for what a checked agent file cannot contain
 */
export function createToolset(agent: Pick<AgentDefinition, "tools">, options: ToolsetOptions): readonly Tool[] {
  const caller: HttpCaller = {
    network: options.network,
    connections: options.connections,
    maxChars: options.maxChars ?? 20_000,
    maxPages: options.maxPages ?? 5,
  };
  const now = options.now ?? Date.now;
  return agent.tools.flatMap((declared) => toolsOf(declared, options.manifests, caller, now));
}

function toolsOf(
  declared: ToolDeclaration,
  manifests: ToolsetOptions["manifests"],
  caller: HttpCaller,
  now: () => number,
): readonly Tool[] {
  switch (declared.type) {
    case "integration":
      return integrationTools(declared, manifests, caller);
    case "api":
      return apiTools(declared, caller);
    case "mcp":
      return mcpTools(declared, caller);
    case "builtin":
      return [builtinTool(declared, now)];
    case "client":
      return [clientTool(declared)];
    case "agent":
      return [];
  }
}
