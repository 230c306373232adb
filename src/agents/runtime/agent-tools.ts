import type { JsonObject } from "../../canonical/index.js";
import type { AgentDefinition, AgentTool } from "../spec/index.js";
import type { Tool } from "../tools/index.js";
import { schemaCheck } from "./schema-check.js";

/** Another agent as a tool. Its `call` is never used: the runtime runs the agent itself, behind the same gate. */
export interface AgentAsTool extends Tool {
  readonly kind: "agent";
  /** Name of the agent that it runs. */
  readonly runs: string;
}

const queryOnly: JsonObject = {
  type: "object",
  properties: { query: { type: "string", description: "What to ask, with everything that is needed to answer it." } },
  required: ["query"],
  additionalProperties: false,
};

/** @param describe the other agent's own description, where the declaration gives none */
export function agentTools(
  agent: Pick<AgentDefinition, "tools">,
  describe: (name: string) => string | undefined,
): readonly AgentAsTool[] {
  return agent.tools
    .filter((tool): tool is AgentTool => tool.type === "agent")
    .map((tool) => {
      const parameters = tool.parameters ?? queryOnly;
      return {
        name: tool.name.replaceAll("-", "_"),
        kind: "agent",
        runs: tool.agent,
        description: tool.description ?? describe(tool.agent) ?? `Asks the agent ${tool.agent}.`,
        parameters,
        needsConfirmation: false,
        requiresApproval: false,
        check: schemaCheck(parameters),
        call: () => Promise.reject(new Error("an agent is run by the runtime, not called")),
      };
    });
}

export function isAgentTool(tool: Tool): tool is AgentAsTool {
  return tool.kind === "agent" && "runs" in tool;
}

/** What the other agent is asked: its `query`, or all arguments as JSON where it declares others. */
export function queryFor(args: JsonObject): string {
  const keys = Object.keys(args);
  return keys.length === 1 && typeof args.query === "string" ? args.query : JSON.stringify(args);
}
