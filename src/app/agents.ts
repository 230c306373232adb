import { type ChatModel, createModel, type Script } from "../agents/models/index.js";
import { type AgentRuntime, type CallGuard, createRuntime } from "../agents/runtime/index.js";
import type { AgentDefinition } from "../agents/spec/index.js";
import { createNetwork, createToolset, type Network, type Tool } from "../agents/tools/index.js";
import type { TurnAgent } from "../turns/index.js";
import type { Loaded } from "./boot.js";
import type { DaleConfig } from "./config/index.js";
import type { Logger } from "./logger.js";

export interface Agents {
  readonly runtime: AgentRuntime;
  turnAgent(name: string): TurnAgent | undefined;
  /** Where an agent's propuestas go when no caller takes them. */
  proposalsWebhook(name: string): string | undefined;
  list(): readonly { readonly name: string; readonly description: string }[];
  /** Ends what tools keep open: connections, MCP sessions. */
  close(): Promise<void>;
}

export interface AgentsOptions {
  readonly config: DaleConfig;
  readonly loaded: Loaded;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly now: () => number;
  /** Asked before every call. Default: nothing is forbidden. */
  readonly guard?: CallGuard | undefined;
}

/** The loaded agents, ready to run: each with its model and its tools. */
export function createAgents(options: AgentsOptions): Agents {
  const { config, loaded, logger, now } = options;
  const network: Network = createNetwork({ egress: { allow: config.egress.allow } });
  const definitions = new Map<string, AgentDefinition>();
  const models = new Map<string, ChatModel>();
  const tools = new Map<string, readonly Tool[]>();
  const toolset = (owner: Pick<AgentDefinition, "tools">): readonly Tool[] =>
    createToolset(owner, { manifests: loaded.manifests, connections: loaded.connections, network, now });
  for (const agent of loaded.agents) {
    const script = (path: string): Script | undefined => loaded.scripts.get(path);
    definitions.set(agent.name, agent);
    models.set(agent.name, createModel(agent.model, { script, env: options.env, now, logger }));
    tools.set(agent.name, toolset(agent));
  }
  const workflowTools = new Map(
    [...loaded.workflows.values()].map((workflow) => [workflow.name, toolset(workflow)] as const),
  );
  const runtime = createRuntime({
    workflowOf: (name) => loaded.workflows.get(name),
    workflowToolsOf: (name) => workflowTools.get(name),
    agentOf: (name) => definitions.get(name),
    toolsOf: (name) => tools.get(name),
    modelOf: (name) => models.get(name),
    ...(options.guard === undefined ? {} : { guard: options.guard }),
    locale: config.gate.locale,
    logger,
    now,
  });
  return {
    runtime,
    turnAgent(name) {
      const agent = definitions.get(name);
      if (!agent) return undefined;
      return {
        locale: agent.gate.locale ?? config.gate.locale,
        resume: agent.gate.resume ?? config.gate.resume,
        memory: agent.memory,
        seesImages: models.get(name)?.seesImages === true,
        proposalsWebhook: agent.proposals !== undefined,
      };
    },
    proposalsWebhook: (name) => definitions.get(name)?.proposals?.webhook,
    list: () => loaded.agents.map(({ name, description }) => ({ name, description })),
    close: () => network.close(),
  };
}
