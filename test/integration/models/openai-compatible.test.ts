import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createModel, type ModelOptions, type ModelRequest } from "../../../src/agents/models/index.js";
import type { ProviderModel } from "../../../src/agents/spec/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../../fakes/openai/index.js";
import { silentLogger } from "../../fixtures/agents.js";

let server: FakeOpenAi;
beforeEach(async () => {
  server = await startFakeOpenAi({ key: "sk-secret" });
});
afterEach(() => server.stop());

const limits = { backoffMs: 1, attempts: 3, attemptTimeoutMs: 5_000, budgetMs: 5_000 };

function modelOf(over: Partial<ProviderModel> = {}, options: Partial<ModelOptions> = {}) {
  const primary: ProviderModel = {
    provider: "openai_compat",
    model: "puppet",
    endpoint: server.url,
    apiKeyEnv: "MODEL_KEY",
    parameters: { temperature: 0.2, maxTokens: 500, stop: ["END"] },
    timeoutMs: 5_000,
    vision: false,
    ...over,
  };
  return createModel(
    { primary },
    { env: { MODEL_KEY: "sk-secret" }, now: Date.now, logger: silentLogger, limits, ...options },
  );
}

const request = (over: Partial<ModelRequest> = {}): ModelRequest => ({
  system: "You help.",
  messages: [{ role: "user", content: "my secret question" }],
  tools: [{ name: "praxis_buscar_records", description: "Finds", parameters: { type: "object", properties: {} } }],
  signal: new AbortController().signal,
  ...over,
});

async function failure(promise: Promise<unknown>): Promise<DaleError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof DaleError)) throw new Error("expected a DaleError");
  return error;
}

describe("an OpenAI-compatible model", () => {
  it("sends the conversation as the protocol has it, with notes in the system text", async () => {
    await modelOf().generate(
      request({
        notes: [{ kind: "discarded", tool: "praxis_crear_record", text: "It is discarded." }],
        messages: [
          { role: "user", content: "how much" },
          {
            role: "assistant",
            content: "",
            calls: [{ id: "c1", tool: "praxis_buscar_records", argumentsText: '{"a":1}' }],
          },
          { role: "tool", callId: "c1", tool: "praxis_buscar_records", content: "[]" },
          { role: "assistant", content: "Nothing." },
          { role: "user", content: "thanks" },
        ],
      }),
    );
    const [sent] = server.requests;
    expect(sent?.authorization).toBe("Bearer sk-secret");
    expect(sent).toMatchObject({
      model: "puppet",
      temperature: 0.2,
      max_tokens: 500,
      stop: ["END"],
      tool_choice: "auto",
    });
    expect(sent?.messages.map((message) => message.role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(sent?.system).toMatch(/^You help\.\n\nNotes of the runtime[\s\S]*- It is discarded\.$/);
    expect(sent?.messages[2]?.tool_calls?.[0]?.function).toEqual({
      name: "praxis_buscar_records",
      arguments: '{"a":1}',
    });
  });

  it("hands on a call's arguments as the raw text that the model wrote", async () => {
    const raw = '{"cuotas": 3,  "cuotas": 300, "n": 9007199254740993, "x": 1e400}';
    server.plays([{ text: "Let me see.", calls: [{ name: "praxis_buscar_records", arguments: raw }] }]);
    const reply = await modelOf().generate(request());
    expect(reply.text).toBe("Let me see.");
    expect(reply.calls).toMatchObject([{ tool: "praxis_buscar_records", argumentsText: raw }]);
    expect(reply.usage).toEqual({ inputTokens: 11, outputTokens: 7 });
  });

  it("replays broken arguments of an earlier step in a form that endpoints take", async () => {
    await modelOf().generate(
      request({
        messages: [
          { role: "user", content: "x" },
          { role: "assistant", content: "", calls: [{ id: "c1", tool: "t", argumentsText: '{"a": ' }] },
          { role: "tool", callId: "c1", tool: "t", content: "not JSON" },
        ],
      }),
    );
    expect(server.requests[0]?.messages[2]?.tool_calls?.[0]?.function.arguments).toBe("{}");
  });

  it("keeps a reasoning model's thoughts out of the answer", async () => {
    server.plays([{ text: "<think>\nthe person wants…\n</think>\n\nHello." }]);
    expect((await modelOf().generate(request())).text).toBe("Hello.");
  });

  it("sends images only to a model that sees", async () => {
    const images = [{ mime: "image/png", data: new Uint8Array([1, 2, 3]) }];
    const messages = [{ role: "user" as const, content: "look", images }];
    await modelOf({ vision: true }).generate(request({ messages }));
    await modelOf({ vision: false }).generate(request({ messages }));
    expect(server.requests[0]?.messages[1]?.content).toEqual([
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
    ]);
    expect(server.requests[1]?.messages[1]?.content).toBe("look");
  });

  it.each([
    ["500", { fault: "status", status: 500 }],
    ["429", { fault: "status", status: 429 }],
    ["a reset", { fault: "reset" }],
    ["a cut answer", { fault: "cut" }],
    ["broken JSON", { fault: "broken_json" }],
    ["a web page", { fault: "not_json" }],
    ["empty choices", { fault: "empty_choices" }],
    ["no choices", { fault: "no_choices" }],
    ["an empty reply", { text: "" }],
  ] as const)("tries again after %s, and answers when that passes", async (_name, fault) => {
    server.plays([fault, fault, { text: "Hello." }]);
    expect((await modelOf().generate(request())).text).toBe("Hello.");
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    ["500", { fault: "status", status: 500 }, "The model endpoint answered 500."],
    ["a reset", { fault: "reset" }, "The model endpoint could not be reached"],
    ["broken JSON", { fault: "broken_json" }, "not the JSON of a chat completion"],
    ["empty choices", { fault: "empty_choices" }, "without any choice"],
    ["an empty reply", { text: "" }, "neither text nor a tool call"],
    ["an endless answer", { fault: "huge", bytes: 9_000_000 }, "larger than"],
  ] as const)(
    "gives up after its tries when %s stays, with a reason and without texts or keys",
    async (_n, fault, reason) => {
      server.plays([fault]);
      const error = await failure(modelOf().generate(request()));
      expect(error.code).toBe("model_failed");
      expect(error.message).toContain(reason);
      expect(server.requests).toHaveLength(3);
      expect(JSON.stringify([error.message, error.stack, error.cause ?? null])).not.toMatch(/secret/);
    },
  );

  it.each([400, 401, 403, 404, 422])("takes %i for a refusal and does not try again", async (status) => {
    server.plays([{ fault: "status", status, body: '{"error":{"message":"my secret question is bad"}}' }]);
    const error = await failure(modelOf().generate(request()));
    expect([error.code, error.message]).toEqual(["model_refused", `The model endpoint answered ${status}.`]);
    expect(server.requests).toHaveLength(1);
  });

  it("follows no redirect: a key would go along", async () => {
    server.plays([{ fault: "redirect", to: "http://127.0.0.1:1/elsewhere" }]);
    expect((await failure(modelOf().generate(request()))).message).toBe("The model endpoint answered 307.");
  });

  it("waits as long as a 429 asks for, where that fits in its budget", async () => {
    server.plays([{ fault: "status", status: 429, retryAfter: "0" }, { text: "Hello." }]);
    expect((await modelOf().generate(request())).text).toBe("Hello.");
  });

  it("hands a long Retry-After on instead of waiting for it", async () => {
    server.plays([{ fault: "status", status: 429, retryAfter: "3600" }]);
    const error = await failure(modelOf().generate(request()));
    expect([error.code, error.retryAfterMs]).toEqual(["model_failed", 3_600_000]);
    expect(server.requests).toHaveLength(1);
  });

  it("gives up on an endpoint that hangs", async () => {
    server.plays([{ fault: "hang" }]);
    const model = modelOf({}, { limits: { ...limits, attemptTimeoutMs: 80, budgetMs: 60 } });
    const error = await failure(model.generate(request()));
    expect([error.code, error.message]).toEqual(["model_failed", "The model did not answer within 0.08 s."]);
  });

  it("stops at once when the run is stopped, with the run's own reason", async () => {
    server.plays([{ fault: "hang" }]);
    const stop = new AbortController();
    const promise = failure(modelOf().generate(request({ signal: stop.signal })));
    stop.abort(new DaleError("turn_timeout", "Too long."));
    expect((await promise).code).toBe("turn_timeout");
  });

  it("says when nobody listens at the endpoint", async () => {
    const endpoint = server.url;
    await server.stop();
    const error = await failure(modelOf({ endpoint }).generate(request()));
    expect(error.message).toBe("The model endpoint could not be reached (ECONNREFUSED).");
  });

  it("works without a key on loopback, even where the agent names one", async () => {
    await server.stop();
    server = await startFakeOpenAi();
    expect((await modelOf({}, { env: {} }).generate(request())).text).toBe("Hello.");
    expect(server.requests[0]?.authorization).toBeUndefined();
  });
});

describe("a fallback", () => {
  const fallbackOf = async (onRefused = false) => {
    const second = await startFakeOpenAi({ script: [{ text: "From the second." }] });
    const base = { provider: "openai_compat", model: "m", parameters: {}, timeoutMs: 5_000, vision: false } as const;
    const model = createModel(
      {
        primary: { ...base, endpoint: server.url, apiKeyEnv: "MODEL_KEY" },
        fallback: { ...base, endpoint: second.url },
        fallbackOnRefused: onRefused,
      },
      { env: { MODEL_KEY: "sk-secret" }, now: Date.now, logger: silentLogger, limits: { ...limits, attempts: 1 } },
    );
    return { model, second };
  };

  it("answers when the primary fails, and is asked first for a while", async () => {
    const { model, second } = await fallbackOf();
    server.plays([{ fault: "status", status: 503 }]);
    expect((await model.generate(request())).text).toBe("From the second.");
    expect((await model.generate(request())).text).toBe("From the second.");
    expect([server.requests.length, second.requests.length]).toEqual([1, 2]);
    await second.stop();
  });

  it("answers in the other half of the run's time when the primary hangs", async () => {
    const { model, second } = await fallbackOf();
    server.plays([{ fault: "hang" }]);
    const reply = await model.generate(request({ until: Date.now() + 200 }));
    expect(reply.text).toBe("From the second.");
    await second.stop();
  });

  it("hides a refusal of the primary only where that was asked for", async () => {
    const hidden = await fallbackOf(true);
    const seen = await fallbackOf(false);
    server.plays([{ fault: "status", status: 401 }]);
    expect((await hidden.model.generate(request())).text).toBe("From the second.");
    expect((await failure(seen.model.generate(request()))).code).toBe("model_refused");
    await hidden.second.stop();
    await seen.second.stop();
  });
});
