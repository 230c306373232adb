import { dirname } from "node:path";
import { loadScript, modelProblems, type Script } from "../agents/models/index.js";
import { agentProblems, workflowProblems } from "../agents/runtime/index.js";
import {
  type AgentDefinition,
  type Connection,
  formatProblem,
  hasErrors,
  type IntegrationManifest,
  loadAgents,
  loadConnections,
  type Problem,
  readYaml,
  type WorkflowDefinition,
  type YamlFile,
} from "../agents/spec/index.js";
import { builtinNames } from "../agents/tools/index.js";
import type { Policies } from "../ledger/index.js";
import { type DaleConfig, loadConfig } from "./config/index.js";
import { readPoliciesFile } from "./policies.js";
import { policyWarnings } from "./policy-warnings.js";

/** What the files declare and passed every check. */
export interface Loaded {
  readonly agents: readonly AgentDefinition[];
  readonly manifests: ReadonlyMap<string, IntegrationManifest>;
  readonly connections: ReadonlyMap<string, Connection>;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  /** Scripts of scripted models, by their path. */
  readonly scripts: ReadonlyMap<string, Script>;
  readonly policies?: Policies;
}

export type Boot =
  | { readonly ok: true; readonly config: DaleConfig; readonly loaded: Loaded; readonly problems: readonly Problem[] }
  | { readonly ok: false; readonly folder: string; readonly problems: readonly Problem[] };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks everything, and starts nothing: what `dale check` does, and what `dale start` does first. A bad
 * configuration is the end; a bad agent is left out, with the accounts that it should answer on.
 */
export async function boot(file: string, env: Environment): Promise<Boot> {
  const read = await loadConfig(file, env);
  if (!read.ok) return { ok: false, folder: dirname(file), problems: read.problems };
  const { config } = read;

  const problems: Problem[] = [...read.problems];
  const { connections, problems: connectionProblems } = config.connections
    ? await loadConnections(config.connections, env)
    : { connections: new Map<string, Connection>(), problems: [] };
  problems.push(...connectionProblems);
  const scripts = new Map<string, Script>();
  const found = await loadAgents({
    ...(config.agents === undefined ? {} : { agents: config.agents }),
    ...(config.integrations === undefined ? {} : { integrations: config.integrations }),
    connections,
    builtins: builtinNames,
    inspect: async (agent, yaml) => [
      ...modelFaults(agent, yaml, env),
      ...agentProblems(agent).map(({ path, message }) => yaml.problem(path, message)),
      ...(await loadScripts(agent, scripts)),
    ],
    inspectWorkflow: async (workflow, yaml) =>
      workflowProblems(workflow).map(({ path, message }) => yaml.problem(path, message)),
  });
  problems.push(...found.problems);

  const { manifests, workflows, failed } = found;
  const declared = { agents: [...found.agents.values()], manifests, connections, workflows, scripts };
  const rules = config.policies === undefined ? undefined : await readPoliciesFile(config.policies);
  if (rules) problems.push(...(rules.ok ? policyWarnings(rules, declared, config, env) : rules.problems));
  const loaded = { ...declared, ...(rules?.ok ? { policies: rules.policies } : {}) };
  const names = found.agents;
  const unserved = config.channels.filter(({ agent }) => !names.has(agent));
  problems.push(...(await unservedProblems(config, unserved, failed, env)));
  const channels = config.channels.filter(({ agent }) => names.has(agent));
  return { ok: true, config: { ...config, channels }, loaded, problems };
}

export interface Verdict {
  /** One line a problem, ready to be printed. */
  readonly lines: readonly string[];
  /** Whether Dale must not start like this: then the exit code is 2. */
  readonly refused: boolean;
}

/** @param strict refuse where any agent or manifest is bad, not only where the configuration is */
export function report(booted: Boot, strict: boolean): Verdict {
  const base = booted.ok ? dirname(booted.config.file) : booted.folder;
  const lines = booted.problems.map((problem) => formatProblem(problem, base));
  if (!booted.ok) return { lines, refused: true };
  const configuration = [booted.config.file, booted.config.connections, booted.config.policies];
  const ofConfiguration = booted.problems.filter(({ file }) => configuration.includes(file));
  return { lines, refused: hasErrors(strict ? booted.problems : ofConfiguration) };
}

function modelFaults(agent: AgentDefinition, yaml: YamlFile, env: Environment): readonly Problem[] {
  return modelProblems(agent.model, env).map(({ path, message }) => yaml.problem(["spec", "model", ...path], message));
}

async function loadScripts(agent: AgentDefinition, scripts: Map<string, Script>): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const model of [agent.model.primary, agent.model.fallback]) {
    if (model?.provider !== "scripted" || scripts.has(model.script)) continue;
    const script = await loadScript(model.script);
    if (script.ok) scripts.set(model.script, script.value);
    else problems.push(...script.problems);
  }
  return problems;
}

/** An account whose agent is not there: a mistake of the configuration, unless the agent's own file is what is bad. */
async function unservedProblems(
  config: DaleConfig,
  unserved: DaleConfig["channels"],
  failed: ReadonlySet<string>,
  env: Environment,
): Promise<readonly Problem[]> {
  if (unserved.length === 0) return [];
  const parsed = await readYaml(config.file, env);
  if (!parsed.ok) return parsed.problems;
  const { yaml } = parsed;
  return unserved.map(({ channel, name, agent }) => {
    const path = ["channels", channel, accountNames(yaml.value, channel).indexOf(name), "agent"];
    if (failed.has(agent)) {
      return yaml.problem(path, `the agent ${agent} is bad: this account is not started`, { severity: "warning" });
    }
    return yaml.problem(path, `no agent is named ${agent}: name one of the files in ${config.agents ?? "agents"}`);
  });
}

/** Names of a channel's accounts, in the order of the file. */
function accountNames(value: unknown, channel: string): readonly unknown[] {
  const entries = property(property(value, "channels"), channel);
  return Array.isArray(entries) ? entries.map((entry) => property(entry, "name")) : [];
}

function property(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
