import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { DaleError } from "../../errors/index.js";
import type { ModelSpec, ProviderModel } from "../spec/index.js";
import { type AttemptLimits, withAttempts } from "./attempts.js";
import { boundedFetch } from "./bounded-fetch.js";
import type { ChatModel } from "./chat-model.js";
import { createFallbackModel } from "./fallback.js";
import { createProviderModel } from "./provider-model.js";
import { createScriptedModel, type Script } from "./scripted/index.js";

export interface DeclaredModel {
  readonly primary: ModelSpec;
  readonly fallback?: ModelSpec;
  /** Whether the fallback is asked too when the primary refuses for good. Default false. */
  readonly fallbackOnRefused?: boolean;
}

/** Structured, like pino: ids and codes only. */
export interface ModelLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface ModelOptions {
  /** The scripts of `scripted` models, by their path. */
  script?(path: string): Script | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: the platform's own. */
  readonly fetch?: typeof globalThis.fetch;
  /** Ms since 1970. */
  now(): number;
  /** 0 ≤ x < 1, for the jitter of waits between tries. Default `Math.random`. */
  random?(): number;
  readonly logger: ModelLogger;
  readonly limits?: AttemptLimits;
}

/** What is wrong with a model's declaration, and where: a path below `spec.model`. */
export interface ModelProblem {
  readonly path: readonly string[];
  readonly message: string;
}

const defaultEndpoints: Readonly<Record<ProviderModel["provider"], string | undefined>> = {
  openai_compat: undefined,
  openai: "https://api.openai.com/v1",
  ollama: "http://127.0.0.1:11434/v1",
  vllm: undefined,
  anthropic: "https://api.anthropic.com/v1",
};

/** The longest answer that is read of an endpoint. */
const maxAnswerBytes = 8 * 1024 * 1024;

/**
 * A model as an agent declares it, with tries, time-outs and fallback in place.
 * @throws DaleError `config_invalid` for what `modelProblems` finds, and for a script that was not loaded
 */
export function createModel(declared: DeclaredModel, options: ModelOptions): ChatModel {
  const [problem] = modelProblems(declared, options.env);
  if (problem !== undefined) throw new DaleError("config_invalid", `${problem.path.join(".")}: ${problem.message}`);
  const primary = createOne(declared.primary, options);
  if (declared.fallback === undefined) return primary;
  return createFallbackModel({
    primary,
    fallback: createOne(declared.fallback, options),
    onRefused: declared.fallbackOnRefused ?? false,
    now: options.now,
    logger: options.logger,
  });
}

/** What keeps a checked declaration from being used in this environment: no endpoint, or a key that is not set. */
export function modelProblems(
  declared: DeclaredModel,
  env: Readonly<Record<string, string | undefined>>,
): readonly ModelProblem[] {
  const fallback = declared.fallback === undefined ? [] : problemsOf(declared.fallback, env, "fallback");
  return [...problemsOf(declared.primary, env, "primary"), ...fallback];
}

function problemsOf(
  model: ModelSpec,
  env: Readonly<Record<string, string | undefined>>,
  at: string,
): readonly ModelProblem[] {
  if (model.provider === "scripted") return [];
  const endpoint = endpointOf(model);
  if (endpoint === undefined) return [{ path: [at, "endpoint"], message: "this provider needs an endpoint" }];
  if (!isHttpUrl(endpoint)) return [{ path: [at, "endpoint"], message: "not an http or https URL" }];
  if (isLoopback(endpoint)) return [];
  if (model.apiKeyEnv === undefined) {
    if (model.provider !== "openai" && model.provider !== "anthropic") return [];
    return [{ path: [at], message: "this provider needs api_key_env: the name of the variable that holds its key" }];
  }
  if ((env[model.apiKeyEnv] ?? "") !== "") return [];
  return [{ path: [at, "api_key_env"], message: `the environment variable ${model.apiKeyEnv} is not set` }];
}

function createOne(spec: ModelSpec, options: ModelOptions): ChatModel {
  const name = `${spec.provider}:${spec.model}`;
  if (spec.provider === "scripted") {
    const script = options.script?.(spec.script);
    if (script === undefined) throw new DaleError("config_invalid", "The script of a scripted model was not loaded.");
    return createScriptedModel(script, { name });
  }
  const fetch = boundedFetch(options.fetch ?? globalThis.fetch, maxAnswerBytes);
  const baseURL = endpointOf(spec) ?? "";
  const apiKey = spec.apiKeyEnv === undefined ? undefined : options.env[spec.apiKeyEnv] || undefined;
  const model =
    spec.provider === "anthropic"
      ? createAnthropic({ baseURL, apiKey: apiKey ?? "none", fetch })(spec.model)
      : createOpenAICompatible({ name: "model", baseURL, fetch, ...(apiKey === undefined ? {} : { apiKey }) })(
          spec.model,
        );
  const provided = createProviderModel({
    name,
    model,
    parameters: spec.parameters,
    seesImages: spec.vision,
    now: options.now,
  });
  return withAttempts(provided, {
    attemptTimeoutMs: spec.timeoutMs,
    ...options.limits,
    now: options.now,
    random: options.random ?? Math.random,
  });
}

function endpointOf(spec: ProviderModel): string | undefined {
  return spec.endpoint ?? defaultEndpoints[spec.provider];
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** A model on this machine needs no key, even where the agent file names one for elsewhere. */
function isLoopback(endpoint: string): boolean {
  const { hostname } = new URL(endpoint);
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
