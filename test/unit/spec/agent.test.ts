import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatProblem, loadAgents, loadConnections } from "../../../src/agents/spec/index.js";
import { folder } from "../../fixtures/folder.js";
import { agentFile, load, loadSpec, manifestFile } from "./files.js";

const praxis = manifestFile("praxis", { buscar_records: "GET /records", crear_record: "POST /records" });

describe("an agent file", () => {
  it("becomes a definition with every default", async () => {
    const { agents, lines } = await loadSpec("");
    expect(lines).toEqual([]);
    const agent = agents.get("a");
    expect(agent).toEqual({
      name: "a",
      version: "0.1.0",
      file: agent?.file,
      displayName: "a",
      description: "",
      labels: {},
      model: { primary: { provider: "ollama", model: "m", parameters: {}, timeoutMs: 120_000, vision: false } },
      systemPrompt: "",
      maxIterations: 10,
      timeoutMs: 60_000,
      tools: [],
      memory: { maxTurns: 20, ttlSeconds: 86_400 },
      gate: {},
    });
  });

  it("cannot be changed once it is loaded", async () => {
    const { agents } = await loadSpec("  tools: [{ name: t, type: client, description: d }]\n");
    const agent = agents.get("a");
    expect(() => Object.assign(agent ?? {}, { name: "b" })).toThrow(TypeError);
    expect(() => Object.assign(agent?.tools[0] ?? {}, { name: "b" })).toThrow(TypeError);
  });

  it("has models with their parameters, wherever these stand", async () => {
    const { agents, lines } = await load({
      "agents/a.agent.yaml": `apiVersion: astromesh/v1
kind: Agent
metadata: { name: a, version: 1.5, namespace: sales, labels: { team: revenue } }
spec:
  identity: { display_name: Anna, description: Helps, avatar: bot }
  model:
    primary:
      provider: openai_compat
      model: puppet
      endpoint: http://127.0.0.1:9000/v1/
      api_key_env: MODEL_KEY
      temperature: 0.2
      max_tokens: 100
      timeout: 1.5
      vision: true
      parameters: { temperature: 0.5, top_p: 0.9, stop: END }
    fallback: { provider: anthropic, model: claude, api_key_env: "" }
  prompts: { system: Hello }
  orchestration: { pattern: react, max_iterations: 6, timeout_seconds: 30 }
  memory: { conversational: { max_turns: 3, ttl: 60 } }
  gate: { locale: pt-BR, resume: model }
  proposals: { webhook: https://example.com/p }
  output_schema: { score: { type: integer, required: true } }
`,
    });
    expect(lines).toEqual([]);
    expect(agents.get("a")).toMatchObject({
      version: "1.5",
      displayName: "Anna",
      labels: { team: "revenue" },
      model: {
        primary: {
          provider: "openai_compat",
          endpoint: "http://127.0.0.1:9000/v1",
          apiKeyEnv: "MODEL_KEY",
          parameters: { temperature: 0.5, maxTokens: 100, topP: 0.9, stop: ["END"] },
          timeoutMs: 1500,
          vision: true,
        },
        fallback: { provider: "anthropic", model: "claude", vision: false },
      },
      maxIterations: 6,
      timeoutMs: 30_000,
      memory: { maxTurns: 3, ttlSeconds: 60 },
      gate: { locale: "pt-BR", resume: "model" },
      proposals: { webhook: "https://example.com/p" },
      outputSchema: { type: "object", properties: { score: { type: "integer" } }, required: ["score"] },
    });
    expect(agents.get("a")?.model.fallback).not.toHaveProperty("apiKeyEnv");
  });

  it("finds a script beside itself", async () => {
    const file = agentFile("a").replace(
      "{ provider: ollama, model: m }",
      "{ provider: scripted, script: a.script.yaml }",
    );
    const { agents } = await load({ "agents/a.agent.yaml": file, "agents/a.script.yaml": "x: 1\n" });
    const primary = agents.get("a")?.model.primary;
    expect(primary).toMatchObject({ provider: "scripted", model: "scripted" });
    expect(primary?.provider === "scripted" && primary.script).toMatch(/agents\/a\.script\.yaml$/);
    expect((await load({ "agents/a.agent.yaml": file })).lines).toEqual([
      "agents/a.agent.yaml:5:51: error: there is no such file: the path counts from this file's folder",
    ]);
  });

  it("has tools of every type", async () => {
    const { agents, lines } = await load(
      {
        "agents/a.agent.yaml": agentFile(
          "a",
          `  tools:
    - { name: praxis, type: integration, connection: main, actions: [buscar_records, crear_record], confirm: [crear_record], rate_limit: { requests_per_minute: 30 } }
    - { name: erp-cliente, type: api, connection: main, auth: { scheme: bearer }, operations: [{ name: crear_pedido, description: Creates an order, writes: true, mode: propose, parameters: { sku: { type: string, required: true } }, request: { method: POST, path: /pedidos, body: { sku: "{sku}" } } }] }
    - { name: soporte, type: mcp, connection: main, path: /mcp, auth: { scheme: header, header: X-Api-Key }, tools: [{ name: Buscar-Ticket, description: Finds a ticket, writes: false, input_schema: { type: object, properties: { numero: { type: string } } } }] }
    - { name: ask_sub, type: agent, agent: b, description: Asks the specialist }
    - { name: datetime_now, type: builtin }
    - { name: lookup, type: client, description: Looks up, parameters: { company: { type: string, required: true } } }
`,
        ),
        "agents/b.agent.yaml": agentFile("b"),
        "integrations/praxis.integration.yaml": praxis,
        "connections.yaml": "main: { base_url: https://x.example.com, credential: c }\n",
      },
      ["datetime_now"],
    );
    expect(lines).toEqual([]);
    expect(agents.get("a")?.tools).toEqual([
      {
        type: "integration",
        name: "praxis",
        manifest: "praxis",
        connection: "main",
        actions: ["buscar_records", "crear_record"],
        confirm: ["crear_record"],
        rateLimit: { count: 30, perMs: 60_000 },
      },
      {
        type: "api",
        name: "erp-cliente",
        connection: "main",
        auth: { scheme: "bearer" },
        operations: [
          {
            name: "crear_pedido",
            description: "Creates an order",
            parameters: [{ name: "sku", schema: { type: "string" }, required: true }],
            proposes: true,
            request: { method: "POST", path: "/pedidos", query: {}, headers: {}, body: { sku: "{sku}" } },
          },
        ],
      },
      {
        type: "mcp",
        name: "soporte",
        connection: "main",
        path: "/mcp",
        auth: { scheme: "header", header: "X-Api-Key" },
        tools: [
          {
            name: "Buscar-Ticket",
            description: "Finds a ticket",
            proposes: false,
            inputSchema: { type: "object", properties: { numero: { type: "string" } } },
          },
        ],
      },
      { type: "agent", name: "ask_sub", agent: "b", description: "Asks the specialist" },
      { type: "builtin", name: "datetime_now", config: {} },
      {
        type: "client",
        name: "lookup",
        description: "Looks up",
        parameters: { type: "object", properties: { company: { type: "string" } }, required: ["company"] },
      },
    ]);
  });

  it("names another manifest than its own name, and its tools are called by its own", async () => {
    const { agents, lines } = await loadSpec(
      "  tools: [{ name: erp, type: integration, integration: praxis, actions: [buscar_records] }]\n",
      { "integrations/p.integration.yaml": praxis },
    );
    expect(lines).toEqual([]);
    expect(agents.get("a")?.tools[0]).toMatchObject({ name: "erp", manifest: "praxis" });
  });

  it("has a chain with conditions", async () => {
    const { agents, lines } = await loadSpec(
      `  chain:
    mode: sequential
    on_complete:
      - agent: b
        when: "{{ output.data.score > 7 }}"
        retry: { max_attempts: 3, backoff: exponential, initial_delay_seconds: 2 }
        timeout_seconds: 30
        on_error: continue
      - { agent: b, default: true }
`,
      { "agents/b.agent.yaml": agentFile("b") },
    );
    expect(lines).toEqual([]);
    expect(agents.get("a")?.chain).toEqual({
      mode: "sequential",
      onComplete: [
        {
          agent: "b",
          when: "{{ output.data.score > 7 }}",
          input: "{{ output.answer }}",
          default: false,
          retry: { maxAttempts: 3, backoff: "exponential", initialDelayMs: 2000 },
          timeoutMs: 30_000,
          onError: "continue",
        },
        { agent: "b", input: "{{ output.answer }}", default: true, onError: "stop" },
      ],
    });
  });

  it("of Astromesh's loads, with a warning for each part that is not carried out", async () => {
    const { agents, lines } = await loadSpec(
      `  identity: { display_name: Sales, description: Qualifies leads, avatar: sales-bot }
  prompts: { system: "Hi {{agent_name}}", templates: { greeting: Hello } }
  orchestration: { pattern: plan_and_execute }
  tools:
    - { name: lookup_company, type: internal, description: Looks up, parameters: { company_name: { type: string } } }
    - { name: web_search, type: builtin, rate_limit: { max_calls: 10, period_seconds: 60 }, requires_approval: true }
  memory:
    conversational: { backend: redis, connection: { url: redis://localhost }, strategy: token_budget, max_messages: 5 }
    semantic: { backend: chromadb, similarity_threshold: 0.75, max_results: 5 }
    episodic: { backend: sqlite }
  guardrails:
    input: [{ type: pii_detection, action: redact }, { type: max_length, max_chars: 5000 }]
    output: [{ type: cost_limit, max_tokens_per_turn: 1000 }]
  permissions: { allowed_actions: [lookup_company] }
`,
    );
    expect(agents.get("a")).toMatchObject({
      memory: { maxTurns: 5 },
      tools: [{ type: "client" }, { type: "builtin" }],
    });
    expect(lines.map((line) => /warning: "?(\w+)/.exec(line)?.[1])).toEqual([
      "system",
      "templates",
      "pattern",
      "requires_approval",
      "strategy",
      "semantic",
      "episodic",
      "guardrails",
      "permissions",
    ]);
  });
});

describe("a mistake in an agent file", () => {
  it.each([
    ["an unknown key", "  promts: { system: x }\n", '6:3: error: unknown key "promts": did you mean "prompts"?'],
    [
      "an unknown key far from any",
      "  gate: { zzz: 1 }\n",
      '6:11: error: unknown key "zzz": the keys here are locale, resume',
    ],
    [
      "a wrong type",
      "  orchestration: { max_iterations: many }\n",
      '6:36: error: "max_iterations" must be a number, for example 10',
    ],
    [
      "a number that is too large",
      "  orchestration: { max_iterations: 1000 }\n",
      '6:36: error: "max_iterations" must be at most 100',
    ],
    [
      "a word that is none of the words",
      "  gate: { locale: es-ar }\n",
      '6:19: error: "locale" must be es-AR, es, pt-BR or en: did you mean es-AR?',
    ],
    [
      "a missing key",
      "  tools:\n    - { name: x, type: agent }\n",
      '7:7: error: "agent" is missing: write for example agent: especialista',
    ],
    [
      "a key without a value",
      "  tools:\n    - name: x\n      type: agent\n      agent:\n",
      '9:7: error: "agent" has no value: write for example agent: especialista',
    ],
    [
      "a type of tool that there is not",
      "  tools:\n    - { name: x, type: webhook }\n",
      '7:24: error: "type" must be integration, api, mcp, agent, builtin, client or internal',
    ],
    [
      "a list that is none",
      "  tools: praxis\n",
      '6:10: error: "tools" must be a list, for example [{ name: praxis, type: integration, connection: praxis_main, actions: [buscar_records] }]',
    ],
    [
      "a condition that is no template",
      "  chain: { on_complete: [{ agent: a, when: score > 7 }] }\n",
      '6:44: error: "when" must be a template: write for example "{{ output.data.score > 7 }}"',
    ],
    [
      "a schema that is no object's",
      "  output_schema: { type: string }\n",
      '6:18: error: "output_schema" must describe an object: write { type: object, properties: { … } }',
    ],
  ])("is told with its place and what to write: %s", async (_name, spec, expected) => {
    const { agents, lines } = await loadSpec(spec);
    expect(lines).toContain(`agents/a.agent.yaml:${expected}`);
    expect(agents.size).toBe(0);
  });

  it("is told without an API key that stands where its variable's name should", async () => {
    const { lines } = await load({
      "agents/a.agent.yaml": agentFile("a").replace("model: m }", "model: m, api_key_env: sk-verysecret }"),
    });
    expect(lines).toEqual([
      'agents/a.agent.yaml:5:64: error: "api_key_env" must be the name of an environment variable, never the key itself: write for example OPENAI_API_KEY',
    ]);
  });

  it("is told for every part of the file at once", async () => {
    const { lines } = await load({ "agents/a.agent.yaml": "apiVersion: astromesh/v2\nkind: Agnt\nspec: { x: 1 }\n" });
    expect(lines).toEqual([
      'agents/a.agent.yaml:1:1: error: "metadata" is missing: write for example metadata: { name: cobranzas }',
      'agents/a.agent.yaml:1:13: error: "apiVersion" must be astromesh/v1',
      'agents/a.agent.yaml:2:7: error: "kind" must be Agent',
      'agents/a.agent.yaml:3:1: error: "model" is missing: write for example model: { primary: { provider: ollama, model: llama3.1 } }',
      'agents/a.agent.yaml:3:9: error: unknown key "x": the keys here are identity, model, prompts, orchestration, tools, memory, guardrails, permissions, output_schema, chain, gate, proposals',
    ]);
  });

  it("does not stop the other agents", async () => {
    const { agents, failed, lines } = await load({
      "agents/bad.agent.yaml": agentFile("bad", "  nonsense: 1\n"),
      "agents/empty.agent.yaml": "",
      "agents/good.agent.yaml": agentFile("good"),
      "agents/noise.agent.yaml": "\u0000\u0001",
      "agents/readme.txt": "not read",
    });
    expect([...agents.keys()]).toEqual(["good"]);
    expect([...failed]).toEqual(["bad"]);
    expect(lines).toHaveLength(3);
  });

  it("in a second file of one name does not take the good one with it", async () => {
    const { agents, failed } = await load({
      "agents/1.agent.yaml": agentFile("a"),
      "agents/2.agent.yaml": agentFile("a", "  nonsense: 1\n"),
    });
    expect([...agents.keys()]).toEqual(["a"]);
    expect(failed.size).toBe(0);
  });

  it("may be found by another room, and takes with it what depends on the agent", async () => {
    const root = await folder({
      "agents/a.agent.yaml": agentFile("a", "  tools: [{ name: ask, type: agent, agent: b }]\n"),
      "agents/b.agent.yaml": agentFile("b"),
      "agents/c.agent.yaml": agentFile("c"),
    });
    const { agents, failed, problems } = await loadAgents({
      agents: join(root, "agents"),
      inspect: async (agent, yaml) =>
        agent.name === "b" ? [yaml.problem(["spec", "model", "primary"], "no key")] : [],
    });
    expect(problems.map((problem) => formatProblem(problem, root))).toEqual([
      'agents/a.agent.yaml:6:44: error: the agent "b" did not load: mend it first',
      "agents/b.agent.yaml:5:21: error: no key",
    ]);
    expect([...agents.keys()]).toEqual(["c"]);
    expect([...failed].sort()).toEqual(["a", "b"]);
  });

  it("is a folder that is not there", async () => {
    const root = await folder({});
    const { problems } = await loadAgents({ agents: join(root, "agents") });
    expect(problems.map((problem) => formatProblem(problem, root))).toEqual([
      "agents:1:1: error: there is no such folder, or it may not be read: check the path",
    ]);
  });
});

describe("connections.yaml", () => {
  const read = async (text: string, env: Record<string, string> = {}) => {
    const root = await folder({ "connections.yaml": text });
    const { connections, problems } = await loadConnections(join(root, "connections.yaml"), env);
    return { connections: [...connections.values()], lines: problems.map((problem) => formatProblem(problem, root)) };
  };

  it("gives base URLs and credentials, with variables, plain or below `connections`", async () => {
    const env = { URL: "https://crm.example.com/api/", KEY: "s3cret: # x" };
    const expected = [
      { name: "crm", baseUrl: "https://crm.example.com/api", credentials: { api_key: env.KEY } },
      { name: "erp", credentials: { login: { username: "u", password: "p" } } },
    ];
    const text = "crm: { base_url: ${URL}, api_key: ${KEY} }\nerp: { login: { username: u, password: p } }\n";
    expect(await read(text, env)).toEqual({ connections: expected, lines: [] });
    expect(await read(`connections:\n${text.replace(/^/gm, "  ").trimEnd()}\n`, env)).toEqual({
      connections: expected,
      lines: [],
    });
    expect(await read("")).toEqual({ connections: [], lines: [] });
  });

  it("tells mistakes without credentials", async () => {
    const { lines } = await read("a: { base_url: ftp://user:hunter2@h }\nb: { key: 123456 }\nc: { key: ${NOPE} }\n", {
      NOPE: "two\nlines",
    });
    expect(lines).toEqual([
      'connections.yaml:1:16: error: "base_url" must be an http:// or https:// URL without user, query and fragment, for example https://crm.example.com',
      'connections.yaml:2:11: error: "key" must be text (in quotes, if it looks like a number), or username and password',
      'connections.yaml:3:11: error: "key" must be one line',
    ]);
  });

  it("tells a variable that is not set", async () => {
    expect((await read("a: { key: ${NOPE} }\n")).lines).toEqual([
      "connections.yaml:1:11: error: the environment has no variable NOPE: set it, or write ${NOPE:-default}",
    ]);
  });
});
