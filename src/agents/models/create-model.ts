import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { DaleError } from "../../errors/index.js";
import { type AttemptLimits, withAttempts } from "./attempts.js";
import { boundedFetch } from "./bounded-fetch.js";
import type { ChatModel } from "./chat-model.js";
import { createFallbackModel } from "./fallback.js";
import { createProviderModel, type SamplingParameters } from "./provider-model.js";
import { createScriptedModel, type Script } from "./scripted/index.js";

export interface ModelSpec {
  readonly primary: ModelChoice;
  readonly fallback?: ModelChoice;
  /** Whether the fallback is asked too when the primary refuses for good. Default false. */
  readonly fallbackOnRefused?: boolean;
}

export interface ModelChoice {
  /** `openai_compat` and its names (`openai`, `ollama`, `vllm`, `llamacpp`), `anthropic`, or `scripted`. */
  readonly provider: string;
  readonly model: string;
  /** Base URL; `/chat/completions` or `/messages` is appended. */
  readonly endpoint?: string;
  /** Name of the environment variable that holds the key. */
  readonly apiKeyEnv?: string;
  readonly parameters?: SamplingParameters;
  readonly vision?: boolean;
  /** For `scripted`. */
  readonly script?: Script;
  /** Milliseconds that one answer may take. Default 60,000. */
  readonly timeoutMs?: number;
}

/** Structured, like pino: ids and codes only. */
export interface ModelLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface ModelOptions {
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

const DEFAULT_ENDPOINTS: Readonly<Record<string, string | undefined>> = {
  openai_compat: undefined,
  openai: "https://api.openai.com/v1",
  ollama: "http://127.0.0.1:11434/v1",
  vllm: "http://127.0.0.1:8000/v1",
  llamacpp: "http://127.0.0.1:8080/v1",
};
const ANTHROPIC_ENDPOINT = "https://api.anthropic.com/v1";

/** The longest answer that is read of an endpoint. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * A model as an agent declares it, with tries, time-outs and fallback in place.
 * @throws DaleError `config_invalid` for what `modelProblems` finds
 */
export function createModel(spec: ModelSpec, options: ModelOptions): ChatModel {
  const [problem] = modelProblems(spec, options.env);
  if (problem !== undefined) throw new DaleError("config_invalid", `${problem.path.join(".")}: ${problem.message}`);
  const primary = createChoice(spec.primary, options);
  if (spec.fallback === undefined) return primary;
  return createFallbackModel({
    primary,
    fallback: createChoice(spec.fallback, options),
    onRefused: spec.fallbackOnRefused ?? false,
    now: options.now,
    logger: options.logger,
  });
}

/** What keeps a declared model from being made: an unknown provider, no endpoint, a key that is not in the environment. */
export function modelProblems(
  spec: ModelSpec,
  env: Readonly<Record<string, string | undefined>>,
): readonly ModelProblem[] {
  const fallback = spec.fallback === undefined ? [] : choiceProblems(spec.fallback, env, "fallback");
  return [...choiceProblems(spec.primary, env, "primary"), ...fallback];
}

function choiceProblems(
  choice: ModelChoice,
  env: Readonly<Record<string, string | undefined>>,
  at: string,
): ModelProblem[] {
  if (choice.provider === "scripted") {
    return choice.script === undefined ? [{ path: [at, "script"], message: "a scripted model needs a script" }] : [];
  }
  if (choice.provider !== "anthropic" && !Object.hasOwn(DEFAULT_ENDPOINTS, choice.provider)) {
    const known = [...Object.keys(DEFAULT_ENDPOINTS), "anthropic", "scripted"].join(", ");
    return [{ path: [at, "provider"], message: `unknown provider; use one of ${known}` }];
  }
  const endpoint = endpointOf(choice);
  if (endpoint === undefined) return [{ path: [at, "endpoint"], message: "this provider needs an endpoint" }];
  if (!isHttpUrl(endpoint)) return [{ path: [at, "endpoint"], message: "not an http or https URL" }];
  if (isLoopback(endpoint)) return [];
  if (choice.apiKeyEnv === undefined) {
    if (choice.provider !== "openai" && choice.provider !== "anthropic") return [];
    return [{ path: [at], message: "this provider needs api_key_env, the name of the variable that holds the key" }];
  }
  if ((env[choice.apiKeyEnv] ?? "") !== "") return [];
  return [{ path: [at, "api_key_env"], message: `the environment variable ${choice.apiKeyEnv} is not set` }];
}

function createChoice(choice: ModelChoice, options: ModelOptions): ChatModel {
  const name = `${choice.provider}:${choice.model}`;
  if (choice.provider === "scripted" && choice.script !== undefined)
    return createScriptedModel(choice.script, { name });
  const fetch = boundedFetch(options.fetch ?? globalThis.fetch, MAX_ANSWER_BYTES);
  const baseURL = endpointOf(choice) ?? "";
  const apiKey = choice.apiKeyEnv === undefined ? undefined : options.env[choice.apiKeyEnv] || undefined;
  const model =
    choice.provider === "anthropic"
      ? createAnthropic({ baseURL, apiKey: apiKey ?? "none", fetch })(choice.model)
      : createOpenAICompatible({ name: "model", baseURL, fetch, ...(apiKey === undefined ? {} : { apiKey }) })(
          choice.model,
        );
  const provided = createProviderModel({
    name,
    model,
    ...(choice.parameters === undefined ? {} : { parameters: choice.parameters }),
    seesImages: choice.vision ?? choice.provider === "anthropic",
    now: options.now,
  });
  return withAttempts(provided, {
    ...options.limits,
    ...(choice.timeoutMs === undefined ? {} : { attemptTimeoutMs: choice.timeoutMs }),
    now: options.now,
    random: options.random ?? Math.random,
  });
}

function endpointOf(choice: ModelChoice): string | undefined {
  return choice.endpoint ?? (choice.provider === "anthropic" ? ANTHROPIC_ENDPOINT : DEFAULT_ENDPOINTS[choice.provider]);
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** A model on this machine needs no key, and an agent file that names one for elsewhere works with it all the same. */
function isLoopback(endpoint: string): boolean {
  const { hostname } = new URL(endpoint);
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
