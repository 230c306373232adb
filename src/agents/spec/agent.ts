import { z } from "zod";
import type { AgentDefinition, ChainDefinition } from "./agent-types.js";
import { anyText, deepFreeze, defined, flag, httpUrl, seconds, slug, text, version, whole } from "./fields.js";
import { declaredName } from "./manifest.js";
import { buildModel, modelShape } from "./model.js";
import { objectSchemaShape } from "./parameters.js";
import { hasErrors, type Problem } from "./problem.js";
import { checkShape } from "./shape.js";
import { buildRetry, retryShape, whenShape } from "./steps.js";
import { buildTool } from "./tool.js";
import { toolsShape } from "./tool-shapes.js";
import type { Path, YamlFile } from "./yaml-file.js";

const chainShape = z.strictObject({
  mode: z.enum(["sequential", "parallel"]).default("sequential"),
  max_depth: whole(1, 5, 5).optional(),
  on_complete: z
    .array(
      z.strictObject({
        agent: text("archivo"),
        when: whenShape.optional(),
        input: text('"{{ output.answer }}"').default("{{ output.answer }}"),
        default: flag().default(false),
        retry: retryShape.optional(),
        timeout_seconds: seconds(3600, 30).optional(),
        on_error: z.enum(["stop", "continue"]).default("stop"),
      }),
    )
    .min(1)
    .max(50)
    .meta({ example: "[{ agent: archivo }]" }),
});

/** Astromesh's own sections that Dale reads over. Their shape is theirs; that they are not carried out is said. */
const foreign = z.record(z.string(), z.unknown());

export const agentShape = z.strictObject({
  apiVersion: z.literal("astromesh/v1"),
  kind: z.literal("Agent"),
  metadata: z
    .strictObject({
      name: slug("cobranzas"),
      version,
      namespace: text("default").optional(),
      labels: z.record(z.string(), z.string()).default({}),
    })
    .meta({ example: "{ name: cobranzas }" }),
  spec: z
    .strictObject({
      identity: z
        .strictObject({
          display_name: anyText().optional(),
          description: anyText().default(""),
          avatar: anyText().optional(),
        })
        .prefault({}),
      model: z
        .strictObject({
          primary: modelShape,
          fallback: modelShape.optional(),
          routing: z
            .strictObject({
              strategy: text("quality_first").optional(),
              health_check_interval: seconds(86_400, 30).optional(),
            })
            .optional(),
        })
        .meta({ example: "{ primary: { provider: ollama, model: llama3.1 } }" }),
      prompts: z
        .strictObject({ system: anyText().default(""), templates: z.record(z.string(), z.string()).optional() })
        .prefault({}),
      orchestration: z
        .strictObject({
          pattern: z
            .enum(["react", "plan_and_execute", "parallel_fan_out", "pipeline", "supervisor", "swarm"])
            .default("react"),
          max_iterations: whole(1, 100, 10).default(10),
          timeout_seconds: seconds(3600, 60).default(60),
        })
        .prefault({}),
      tools: toolsShape,
      memory: z
        .strictObject({
          conversational: z
            .strictObject({
              backend: text("redis").optional(),
              connection: foreign.optional(),
              strategy: z.enum(["sliding_window", "summary", "token_budget"]).default("sliding_window"),
              max_turns: whole(0, 1000, 20).optional(),
              max_messages: whole(0, 1000, 20).optional(),
              ttl: seconds(31_536_000, 86_400).default(86_400),
            })
            .prefault({}),
          semantic: foreign.optional(),
          episodic: foreign.optional(),
        })
        .prefault({}),
      guardrails: z
        .strictObject({ input: z.array(foreign).optional(), output: z.array(foreign).optional() })
        .optional(),
      permissions: foreign.optional(),
      output_schema: objectSchemaShape.optional(),
      chain: chainShape.optional(),
      gate: z
        .strictObject({
          locale: z.enum(["es-AR", "es", "pt-BR", "en"]).optional(),
          resume: z.enum(["runtime", "model"]).optional(),
        })
        .prefault({}),
      proposals: z.strictObject({ webhook: httpUrl("https://example.com/proposals") }).optional(),
    })
    .meta({ example: "{ model: { primary: … } }" }),
});

type AgentShape = z.output<typeof agentShape>;

export interface ReadAgent {
  readonly agent?: AgentDefinition;
  readonly problems: readonly Problem[];
  /** The name that the file gives itself, also where it is bad. */
  readonly name?: string;
}

/** Checks a `kind: Agent` file by itself. What it says of other files is checked by `loadAgents`. */
export function readAgent(yaml: YamlFile): ReadAgent {
  const name = declaredName(yaml);
  const shape = checkShape(agentShape, yaml);
  if (!shape.ok) return { problems: shape.problems, ...name };
  const { metadata, spec } = shape.value;
  const tools = spec.tools.map((tool, index) => buildTool(tool, yaml, ["spec", "tools", index]));
  const problems = [
    ...tools.flatMap((built) => built.problems),
    ...notCarriedOut(spec, yaml),
    ...(spec.chain === undefined ? [] : checkChain(spec.chain, yaml)),
  ];
  if (spec.chain !== undefined && tools.some(({ tool }) => tool.type === "integration" && tool.confirm.length > 0))
    problems.push(
      yaml.problem(
        ["spec", "chain"],
        "chain cannot stand together with confirm, because nobody could say yes within a chain: " +
          "move the chain or the gated actions to another agent",
        { at: "key" },
      ),
    );
  if (hasErrors(problems)) return { problems, ...name };
  const { conversational } = spec.memory;
  const agent: AgentDefinition = {
    name: metadata.name,
    version: metadata.version,
    file: yaml.file,
    displayName: spec.identity.display_name || metadata.name,
    description: spec.identity.description.trim(),
    labels: metadata.labels,
    model: defined({
      primary: buildModel(spec.model.primary, yaml.file),
      fallback: spec.model.fallback === undefined ? undefined : buildModel(spec.model.fallback, yaml.file),
    }),
    systemPrompt: spec.prompts.system,
    maxIterations: spec.orchestration.max_iterations,
    timeoutMs: Math.round(spec.orchestration.timeout_seconds * 1000),
    tools: tools.map(({ tool }) => tool),
    memory: {
      maxTurns: conversational.max_turns ?? conversational.max_messages ?? 20,
      ttlSeconds: Math.ceil(conversational.ttl),
    },
    gate: defined(spec.gate),
    ...defined({
      outputSchema: spec.output_schema,
      chain: spec.chain === undefined ? undefined : buildChain(spec.chain),
      proposals: spec.proposals,
    }),
  };
  return { agent: deepFreeze(agent), problems, ...name };
}

function notCarriedOut(spec: AgentShape["spec"], yaml: YamlFile): Problem[] {
  const found: [boolean, Path, string][] = [
    [spec.model.routing !== undefined, ["model", "routing"], "primary is asked first, fallback when it fails"],
    [spec.prompts.templates !== undefined, ["prompts", "templates"], "only system is used"],
    [
      /\{\{|\{%/.test(spec.prompts.system),
      ["prompts", "system"],
      "a template in it reaches the model as it is written",
    ],
    [spec.orchestration.pattern !== "react", ["orchestration", "pattern"], "every agent runs as react"],
    [
      spec.memory.conversational.strategy !== "sliding_window",
      ["memory", "conversational", "strategy"],
      "the last max_turns turns are remembered",
    ],
    [spec.memory.semantic !== undefined, ["memory", "semantic"], "conversations alone are remembered"],
    [spec.memory.episodic !== undefined, ["memory", "episodic"], "conversations alone are remembered"],
    [spec.guardrails !== undefined, ["guardrails"], "no text is filtered, masked or cut by it"],
    [spec.permissions !== undefined, ["permissions"], "an agent may use the tools that it lists"],
  ];
  return found
    .filter(([present]) => present)
    .map(([, path, instead]) =>
      yaml.problem(["spec", ...path], `"${path.at(-1)}" is accepted but not carried out: ${instead}`, {
        severity: "warning",
        at: "key",
      }),
    );
}

function checkChain(chain: z.output<typeof chainShape>, yaml: YamlFile): Problem[] {
  const problems: Problem[] = [];
  const at = (index: number, key: string): Path => ["spec", "chain", "on_complete", index, key];
  const defaults = chain.on_complete.flatMap((link, index) => (link.default ? [index] : []));
  for (const index of defaults.slice(1))
    problems.push(yaml.problem(at(index, "default"), "a chain has one default at most: keep one", { at: "key" }));
  for (const [index, link] of chain.on_complete.entries()) {
    if (link.default && link.when !== undefined)
      problems.push(yaml.problem(at(index, "when"), "a default has no when: leave one of the two out", { at: "key" }));
    if (chain.mode === "parallel" && link.when !== undefined && /\b(steps|when)\s*[.[]/.test(link.when))
      problems.push(
        yaml.problem(at(index, "when"), "in a parallel chain no link sees another's result: write mode: sequential"),
      );
  }
  return problems;
}

function buildChain(chain: z.output<typeof chainShape>): ChainDefinition {
  return {
    mode: chain.mode,
    onComplete: chain.on_complete.map((link) =>
      defined({
        agent: link.agent,
        when: link.when,
        input: link.input,
        default: link.default,
        retry: link.retry === undefined ? undefined : buildRetry(link.retry),
        timeoutMs: link.timeout_seconds === undefined ? undefined : Math.round(link.timeout_seconds * 1000),
        onError: link.on_error,
      }),
    ),
  };
}
