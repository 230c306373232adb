import { describe, expect, it } from "vitest";
import { createModel, type ModelRequest, modelProblems } from "../../../src/agents/models/index.js";
import type { ProviderModel } from "../../../src/agents/spec/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { silentLogger } from "../../fixtures/agents.js";

const base = { model: "m", parameters: {}, timeoutMs: 1_000, vision: true };
const options = { env: {}, now: Date.now, logger: silentLogger };
const request = (over: Partial<ModelRequest> = {}): ModelRequest => ({
  system: "You help.",
  messages: [{ role: "user", content: "hello" }],
  tools: [{ name: "t", description: "Does t", parameters: { type: "object", properties: {} } }],
  signal: new AbortController().signal,
  ...over,
});

/** Anthropic's Messages API, as far as one request goes. */
function anthropic(content: unknown, seen: { url?: string; headers?: Headers; body?: unknown } = {}): typeof fetch {
  return async (input, init) => {
    seen.url = String(input);
    seen.headers = new Headers(init?.headers);
    seen.body = JSON.parse(String(init?.body));
    const answer = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content,
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 2 },
    };
    return new Response(JSON.stringify(answer), { status: 200, headers: { "content-type": "application/json" } });
  };
}

describe("a model's declaration", () => {
  const problems = (primary: Partial<ProviderModel>, env = {}) =>
    modelProblems({ primary: { ...base, provider: "openai_compat", ...primary } }, env).map(({ path, message }) => [
      path.join("."),
      message,
    ]);

  it("needs its key in the environment, unless the endpoint is on this machine", () => {
    const far = { endpoint: "https://models.example/v1", apiKeyEnv: "MODEL_KEY" };
    expect(problems(far)).toEqual([["primary.api_key_env", "the environment variable MODEL_KEY is not set"]]);
    expect(problems(far, { MODEL_KEY: "" })).toHaveLength(1);
    expect(problems(far, { MODEL_KEY: "sk" })).toEqual([]);
    for (const endpoint of ["http://127.0.0.1:9000/v1", "http://localhost:9000/v1", "http://[::1]:9000/v1"]) {
      expect(problems({ endpoint, apiKeyEnv: "MODEL_KEY" })).toEqual([]);
    }
    expect(problems({ endpoint: "http://127.0.0.1.example/v1", apiKeyEnv: "MODEL_KEY" })).toHaveLength(1);
  });

  it("needs a key at all for a provider that always asks for one", () => {
    expect(problems({ provider: "openai" })).toHaveLength(1);
    expect(problems({ provider: "anthropic" })).toHaveLength(1);
    expect(problems({ provider: "ollama" })).toEqual([]);
  });

  it("needs an endpoint that can be one", () => {
    expect(problems({})).toEqual([["primary.endpoint", "this provider needs an endpoint"]]);
    expect(problems({ endpoint: "ftp://x/v1" })).toEqual([["primary.endpoint", "not an http or https URL"]]);
  });

  it("is not made into a model while something is wrong with it", () => {
    const primary: ProviderModel = { ...base, provider: "openai" };
    expect(() => createModel({ primary }, options)).toThrow(DaleError);
    const scripted = { provider: "scripted", model: "s", script: "/x.yaml", vision: false } as const;
    expect(() => createModel({ primary: scripted }, options)).toThrow("was not loaded");
  });
});

describe("an Anthropic model", () => {
  const primary: ProviderModel = { ...base, provider: "anthropic", apiKeyEnv: "KEY" };

  it("gets system, tools and results in its own form, and its calls come back as text", async () => {
    const seen: { url?: string; headers?: Headers; body?: unknown } = {};
    const fetch = anthropic(
      [
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "toolu_1", name: "t", input: { cuotas: 3, monto: 184000 } },
      ],
      seen,
    );
    const model = createModel({ primary }, { ...options, env: { KEY: "sk-ant" }, fetch });
    const reply = await model.generate(
      request({
        notes: [{ kind: "expired", text: "It lapsed." }],
        messages: [
          { role: "user", content: "hello", images: [{ mime: "image/png", data: new Uint8Array([1]) }] },
          { role: "assistant", content: "", calls: [{ id: "c1", tool: "t", argumentsText: "{}" }] },
          { role: "tool", callId: "c1", tool: "t", content: "[]" },
        ],
      }),
    );
    expect(reply).toEqual({
      text: "Let me see.",
      calls: [{ id: "toolu_1", tool: "t", argumentsText: '{"cuotas":3,"monto":184000}' }],
      usage: { inputTokens: 5, outputTokens: 2 },
    });
    expect(seen.url).toBe("https://api.anthropic.com/v1/messages");
    expect(seen.headers?.get("x-api-key")).toBe("sk-ant");
    expect(seen.body).toMatchObject({
      model: "m",
      system: [{ type: "text", text: expect.stringContaining("- It lapsed.") }],
      messages: [
        { role: "user", content: [{ type: "text", text: "hello" }, { type: "image" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "t", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1" }] },
      ],
      tools: [{ name: "t" }],
    });
  });

  it("that fails tells a status and nothing else", async () => {
    const fetch: typeof globalThis.fetch = async () =>
      new Response(JSON.stringify({ type: "error", error: { type: "x", message: "hello is bad" } }), { status: 400 });
    const model = createModel({ primary }, { ...options, env: { KEY: "sk-ant" }, fetch });
    const error = await model.generate(request()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "model_refused", message: "The model endpoint answered 400." });
    expect((error as Error).cause).toBeUndefined();
  });
});
