import type { JsonObject, JsonValue, ObjectSchema } from "./json.js";
import type { CallLimit, Parameter, RequestTemplate } from "./manifest-types.js";

export type GateLocale = "es-AR" | "es" | "pt-BR" | "en";

export type ModelSpec = ProviderModel | ScriptedModel;

export interface ProviderModel {
  readonly provider: "openai_compat" | "openai" | "ollama" | "vllm" | "anthropic";
  readonly model: string;
  /** Base URL. Given for `openai_compat` and `vllm` (checked); the others have their provider's own as default. */
  readonly endpoint?: string;
  /** Name of the environment variable that holds the key. */
  readonly apiKeyEnv?: string;
  readonly parameters: ModelParameters;
  /** Milliseconds for one request. Default 120 s. */
  readonly timeoutMs: number;
  /** Whether the model can be handed images. Default false. */
  readonly vision: boolean;
}

/** Patterns and replies from a file, instead of a model. */
export interface ScriptedModel {
  readonly provider: "scripted";
  readonly model: string;
  /** Path of the script: resolved from the agent file's folder; the file is there (checked). */
  readonly script: string;
  readonly vision: boolean;
}

export interface ModelParameters {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxTokens?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
}

/** An entry of an agent's `tools`. `integration`, `api` and `mcp` come to several tools; the others to one. */
export type ToolDeclaration = IntegrationTool | ApiTool | McpTool | AgentTool | BuiltinTool | ClientTool;

export interface IntegrationTool {
  readonly type: "integration";
  readonly name: string;
  /** Name of the manifest: `integration`, or the tool's own name. It is loaded and has every action (checked). */
  readonly manifest: string;
  readonly connection?: string;
  readonly actions: readonly string[];
  /** Those that wait for the person's yes. A subset of `actions` (checked). */
  readonly confirm: readonly string[];
  readonly rateLimit?: CallLimit;
}

/** How a tenant's own API or MCP server is signed to, with the connection's field `credential`. */
export type TenantAuth =
  | { readonly scheme: "none" | "bearer" | "basic" }
  | { readonly scheme: "header"; readonly header: string }
  | { readonly scheme: "query"; readonly param: string };

export interface ApiOperation {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** True for a write, which is always `mode: propose` (checked): returned, never executed. */
  readonly proposes: boolean;
  readonly request: RequestTemplate;
  readonly select?: string;
}

export interface ApiTool {
  readonly type: "api";
  readonly name: string;
  readonly description?: string;
  readonly connection: string;
  readonly auth: TenantAuth;
  readonly operations: readonly ApiOperation[];
  readonly rateLimit?: CallLimit;
}

export interface McpServerTool {
  /** As the server calls it; the model sees `<slug>_<name>` in lower case with `_` for everything else. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly proposes: boolean;
  readonly inputSchema: ObjectSchema;
}

export interface McpTool {
  readonly type: "mcp";
  readonly name: string;
  readonly description?: string;
  readonly connection: string;
  /** Appended to the connection's `base_url`. Starts with "/". */
  readonly path: string;
  readonly auth: TenantAuth;
  readonly tools: readonly McpServerTool[];
  readonly rateLimit?: CallLimit;
}

export interface AgentTool {
  readonly type: "agent";
  readonly name: string;
  /** It is loaded (checked). */
  readonly agent: string;
  /** Default: the other agent's own. */
  readonly description?: string;
  /** Default: one string, `query`. */
  readonly parameters?: ObjectSchema;
  readonly rateLimit?: CallLimit;
}

export interface BuiltinTool {
  readonly type: "builtin";
  readonly name: string;
  readonly description?: string;
  readonly parameters?: ObjectSchema;
  readonly config: JsonObject;
  readonly rateLimit?: CallLimit;
}

/** Announced to the model and carried out by whoever called the API. */
export interface ClientTool {
  readonly type: "client";
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
  readonly rateLimit?: CallLimit;
}

export interface Retry {
  readonly maxAttempts: number;
  readonly backoff: "fixed" | "exponential";
  readonly initialDelayMs: number;
}

export interface ChainLink {
  readonly agent: string;
  /** Template; the link runs when it renders `true`, `1` or `yes`. */
  readonly when?: string;
  /** Template of the query. Default `{{ output.answer }}`. */
  readonly input: string;
  /** Runs only when no link's `when` held. At most one of a chain, and it has no `when` (checked). */
  readonly default: boolean;
  readonly retry?: Retry;
  readonly timeoutMs?: number;
  readonly onError: "stop" | "continue";
}

export interface ChainDefinition {
  readonly mode: "sequential" | "parallel";
  readonly onComplete: readonly ChainLink[];
}

/** A `kind: Agent` file that passed every check. */
export interface AgentDefinition {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly displayName: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly model: { readonly primary: ModelSpec; readonly fallback?: ModelSpec };
  readonly systemPrompt: string;
  readonly maxIterations: number;
  /** Milliseconds for one whole turn. */
  readonly timeoutMs: number;
  readonly tools: readonly ToolDeclaration[];
  /** What is remembered of a conversation. */
  readonly memory: { readonly maxTurns: number; readonly ttlSeconds: number };
  readonly outputSchema?: ObjectSchema;
  readonly chain?: ChainDefinition;
  /** What this agent sets otherwise than the configuration's `gate`. */
  readonly gate: { readonly locale?: GateLocale; readonly resume?: "runtime" | "model" };
  /** Where the proposals of `api` and `mcp` writes are posted when no caller takes them. */
  readonly proposals?: { readonly webhook: string };
}

export type WorkflowStep =
  | {
      readonly kind: "agent";
      readonly name: string;
      readonly agent: string;
      /** Template of the query. */
      readonly input: string;
      readonly when?: string;
      readonly retry?: Retry;
      readonly timeoutMs?: number;
      readonly onError: "stop" | "continue";
    }
  | {
      readonly kind: "tool";
      readonly name: string;
      /** The name as a model would see it; it is one of the workflow's own `tools` and not gated (checked). */
      readonly tool: string;
      /** Strings in it are templates. */
      readonly arguments: { readonly [key: string]: JsonValue };
      readonly when?: string;
      readonly retry?: Retry;
      readonly timeoutMs?: number;
      readonly onError: "stop" | "continue";
    };

export type WorkflowTrigger =
  | { readonly kind: "api" }
  | {
      readonly kind: "schedule";
      /** Five fields: minute, hour, day of month, month, day of week. */
      readonly cron: string;
      /** IANA name. Default UTC. */
      readonly timezone: string;
      /** What `trigger.query` is. */
      readonly query: string;
    };

/** A `kind: Workflow` file that passed every check. */
export interface WorkflowDefinition {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly description: string;
  readonly triggers: readonly WorkflowTrigger[];
  readonly timeoutMs: number;
  readonly tools: readonly ToolDeclaration[];
  readonly steps: readonly WorkflowStep[];
}
