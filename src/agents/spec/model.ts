import { dirname, resolve } from "node:path";
import { z } from "zod";
import type { ModelParameters, ModelSpec } from "./agent-types.js";
import { anyText, decimal, defined, flag, httpUrl, seconds, text, whole } from "./fields.js";

const parametersShape = z.strictObject({
  temperature: decimal(0, 2, 0.3).optional(),
  top_p: decimal(0, 1, 0.9).optional(),
  top_k: whole(1, 100_000, 40).optional(),
  max_tokens: whole(1, 10_000_000, 2048).optional(),
  frequency_penalty: decimal(-2, 2, 0).optional(),
  presence_penalty: decimal(-2, 2, 0).optional(),
  stop: z.union([text("END"), z.array(text("END")).max(16)]).optional(),
  seed: whole(0, Number.MAX_SAFE_INTEGER, 1).optional(),
});

const provided = {
  model: text("gpt-4o-mini"),
  api_key_env: z
    .string()
    .meta({ example: "OPENAI_API_KEY" })
    .regex(/^([A-Za-z_][A-Za-z0-9_]*)?$/, {
      error: "must be the name of an environment variable, never the key itself: write for example OPENAI_API_KEY",
    })
    .optional(),
  parameters: parametersShape.prefault({}),
  temperature: parametersShape.shape.temperature,
  max_tokens: parametersShape.shape.max_tokens,
  timeout: seconds(3600, 120).default(120),
  vision: flag().default(false),
};

const endpoint = httpUrl("http://127.0.0.1:9000/v1");

export const modelShape = z.discriminatedUnion("provider", [
  z.strictObject({ provider: z.enum(["openai_compat", "vllm"]), endpoint, ...provided }),
  z.strictObject({ provider: z.enum(["openai", "ollama", "anthropic"]), endpoint: endpoint.optional(), ...provided }),
  z.strictObject({
    provider: z.literal("scripted"),
    model: anyText().default("scripted"),
    script: text("cobranzas.script.yaml"),
    vision: flag().default(false),
  }),
]);

/** @param file the agent's file: a script's path counts from its folder */
export function buildModel(model: z.output<typeof modelShape>, file: string): ModelSpec {
  if (model.provider === "scripted") {
    const { provider, vision } = model;
    return { provider, model: model.model || "scripted", script: resolve(dirname(file), model.script), vision };
  }
  const { temperature, max_tokens, parameters } = model;
  return defined({
    provider: model.provider,
    model: model.model,
    endpoint: model.endpoint?.replace(/\/+$/, ""),
    apiKeyEnv: model.api_key_env || undefined,
    parameters: buildParameters({ ...defined({ temperature, max_tokens }), ...defined(parameters) }),
    timeoutMs: Math.round(model.timeout * 1000),
    vision: model.vision,
  });
}

function buildParameters(given: z.output<typeof parametersShape>): ModelParameters {
  return defined({
    temperature: given.temperature,
    topP: given.top_p,
    topK: given.top_k,
    maxTokens: given.max_tokens,
    frequencyPenalty: given.frequency_penalty,
    presencePenalty: given.presence_penalty,
    stop: typeof given.stop === "string" ? [given.stop] : given.stop,
    seed: given.seed,
  });
}
