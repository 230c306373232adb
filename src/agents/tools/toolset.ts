import type { AgentDefinition, Connection, IntegrationManifest, ToolDeclaration } from "../spec/index.js";
import type { HttpCaller } from "./http-tool.js";
import { integrationTools } from "./integration-tools.js";
import type { Network } from "./network.js";
import { createPacer, type Pacer } from "./rate-limit.js";
import { apiTools } from "./tenant-tools.js";
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
  /** Shared by all toolsets of a process, so that a server's limit holds over all agents. Default: one of its own. */
  readonly pacer?: Pacer;
}

/**
 * The tools that an agent declares, ready to be called, in the order of its file. Tools of type `agent` are the
 * runtime's and are not among them.
 * @throws DaleError `config_invalid` for what a checked agent file cannot contain
 */
export function createToolset(agent: Pick<AgentDefinition, "tools">, options: ToolsetOptions): readonly Tool[] {
  const caller: HttpCaller = {
    network: options.network,
    pacer: options.pacer ?? createPacer(() => performance.now()),
    connections: options.connections,
    maxChars: options.maxChars ?? 20_000,
    maxPages: options.maxPages ?? 5,
  };
  return agent.tools.flatMap((declared) => toolsOf(declared, options.manifests, caller));
}

function toolsOf(
  declared: ToolDeclaration,
  manifests: ToolsetOptions["manifests"],
  caller: HttpCaller,
): readonly Tool[] {
  switch (declared.type) {
    case "integration":
      return integrationTools(declared, manifests, caller);
    case "api":
      return apiTools(declared, caller);
    case "mcp":
    case "builtin":
    case "client":
    case "agent":
      return [];
  }
}
