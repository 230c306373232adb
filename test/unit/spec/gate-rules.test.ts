import { describe, expect, it } from "vitest";
import { agentFile, load, loadSpec, manifestFile } from "./files.js";

const praxis = {
  "integrations/praxis.integration.yaml": manifestFile("praxis", {
    buscar_records: "GET /records/{entidad}",
    crear_record: "POST /records",
    crear_otro: "POST /records",
    borrar_record: "DELETE /records/{id}",
  }),
};
const praxisTool = (more: string) => `  tools:\n    - { name: praxis, type: integration, ${more} }\n`;
const gatedTool = praxisTool("actions: [buscar_records, crear_record], confirm: [crear_record]");

describe("what is written under confirm", () => {
  it("has to be one of the tool's actions, else nothing would wait", async () => {
    const { agents, failed, found } = await loadSpec(
      praxisTool("actions: [buscar_records, crear_record], confirm: [crear_recrod]"),
      praxis,
    );
    expect(found).toEqual([
      'agents/a.agent.yaml:7 ‹crear_recrod› error: the action "crear_recrod" under confirm is not among this tool\'s actions, so it would gate nothing: must be buscar_records or crear_record: did you mean crear_record?',
    ]);
    expect(agents.has("a")).toBe(false);
    expect(failed.has("a")).toBe(true);
  });

  it("is refused for an action that stands in the manifest but not in the tool's actions", async () => {
    const { found } = await loadSpec(praxisTool("actions: [buscar_records], confirm: [crear_record]"), praxis);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      /^agents\/a\.agent\.yaml:7 ‹crear_record› error: the action "crear_record" under confirm is not among/,
    );
  });

  it("cannot stand together with a chain", async () => {
    const { agents, found } = await loadSpec(`${gatedTool}  chain: { on_complete: [{ agent: b }] }\n`, {
      ...praxis,
      "agents/b.agent.yaml": agentFile("b"),
    });
    expect(found).toEqual([
      "agents/a.agent.yaml:8 ‹chain› error: chain cannot stand together with confirm, because nobody could say yes within a chain: move the chain or the gated actions to another agent",
    ]);
    expect([...agents.keys()]).toEqual(["b"]);
  });

  it("is warned about on a tool that is no integration", async () => {
    const { agents, found } = await loadSpec(
      `  tools:
    - { name: t, type: client, description: d, confirm: [t] }
    - { name: s, type: mcp, connection: c, path: /mcp, auth: { scheme: none }, confirm: true, tools: [{ name: x, description: d, writes: false, input_schema: { type: object } }] }
`,
      { "connections.yaml": "c: {}\n" },
    );
    expect(found).toEqual([
      "agents/a.agent.yaml:7 ‹confirm› warning: confirm gates nothing on a tool of type client: only the actions of an integration can wait",
      "agents/a.agent.yaml:8 ‹confirm› warning: confirm gates nothing on a tool of type mcp: only the actions of an integration can wait",
    ]);
    expect(agents.has("a")).toBe(true);
  });

  it("is refused in a workflow, where nobody could say yes", async () => {
    const { workflows, found } = await load({
      ...praxis,
      "agents/w.workflow.yaml": `apiVersion: astromesh/v1
kind: Workflow
metadata: { name: w }
spec:
${gatedTool}  steps: [{ name: one, tool: praxis_crear_record }]
`,
    });
    expect(found).toEqual([
      "agents/w.workflow.yaml:6 ‹confirm› error: nobody could say yes within a workflow: leave confirm out",
    ]);
    expect(workflows.size).toBe(0);
  });
});

describe("a write on a tenant's own system", () => {
  const api = (operation: string) =>
    `  tools:
    - name: erp
      type: api
      connection: c
      auth: { scheme: bearer }
      operations:
        - { name: crear, description: d, ${operation} }
`;
  const mcp = (tool: string) =>
    `  tools:
    - name: soporte
      type: mcp
      connection: c
      path: /mcp
      auth: { scheme: bearer }
      tools:
        - { name: crear, description: d, input_schema: { type: object }, ${tool} }
`;
  const connections = { "connections.yaml": "c: { base_url: https://h.example.com }\n" };
  const post = "request: { method: POST, path: /x }";

  it.each([
    ["api", api(`writes: true, ${post}`), "12 ‹writes›"],
    ["mcp", mcp("writes: true"), "13 ‹writes›"],
  ])("needs mode: propose (%s)", async (_type, spec, place) => {
    const { agents, found } = await loadSpec(spec, connections);
    expect(found).toEqual([
      `agents/a.agent.yaml:${place} error: a write on a tenant's own system is only proposed: add mode: propose`,
    ]);
    expect(agents.size).toBe(0);
  });

  it.each([
    ["api", api(`writes: false, mode: propose, ${post}`), "12 ‹mode›"],
    ["mcp", mcp("writes: false, mode: propose"), "13 ‹mode›"],
  ])("is the only thing that proposes (%s)", async (_type, spec, place) => {
    expect((await loadSpec(spec, connections)).found).toEqual([
      `agents/a.agent.yaml:${place} error: only a write can propose: write writes: true, or leave mode out`,
    ]);
  });

  it("is declared as one or as none, with true or false", async () => {
    expect((await loadSpec(api(post), connections)).found[0]).toBe(
      'agents/a.agent.yaml:12 ‹{› error: "writes" is missing: write for example writes: true',
    );
    expect((await loadSpec(api(`writes: 0, ${post}`), connections)).found[0]).toBe(
      'agents/a.agent.yaml:12 ‹0› error: "writes" must be true or false, for example true',
    );
  });

  it("is not hidden in a read with another method", async () => {
    expect((await loadSpec(api("writes: false, request: { method: DELETE, path: /x }"), connections)).found).toEqual([
      "agents/a.agent.yaml:12 ‹DELETE› error: the method of a read has to be GET or POST",
    ]);
  });

  it("cannot send the credential elsewhere by its path or headers", async () => {
    expect(
      (await loadSpec(api('writes: false, request: { method: GET, path: "@evil.example" }'), connections)).found[0],
    ).toBe('agents/a.agent.yaml:12 ‹"@evil.example"› error: "path" has to begin with “/”');
    expect(
      (await loadSpec(api("writes: false, request: { method: GET, path: /x, headers: { A: b } }"), connections))
        .found[0],
    ).toBe(
      'agents/a.agent.yaml:12 ‹headers› error: unknown key "headers": the keys here are method, path, query, body',
    );
  });
});

describe("names of tools", () => {
  it("that collide within an agent are refused", async () => {
    const { found } = await loadSpec(`  tools:
    - { name: t-x, type: client, description: d }
    - { name: T_x, type: client, description: d }
`);
    expect(found).toEqual([
      'agents/a.agent.yaml:8 ‹T_x› error: two tools would be called "T_x": give one of them another name',
    ]);
  });

  it("that would shadow a gated one are refused, wherever they stand", async () => {
    const shadow = "    - { name: praxis_crear_record, type: client, description: d }\n";
    const after = await loadSpec(`${gatedTool}${shadow}`, praxis);
    expect(after.found).toEqual([
      'agents/a.agent.yaml:8 ‹praxis_crear_record› error: this tool would shadow "praxis_crear_record", which waits for a yes: give it another name',
    ]);
    const before = await loadSpec(`  tools:\n${shadow}${gatedTool.replace("  tools:\n", "")}`, praxis);
    expect(before.found).toEqual([
      'agents/a.agent.yaml:7 ‹praxis_crear_record› error: this tool would shadow "praxis_crear_record", which waits for a yes: give it another name',
    ]);
    expect(after.agents.size + before.agents.size).toBe(0);
  });

  it("that a tenant's server normalises to the same are refused", async () => {
    const { found } = await loadSpec(`  tools:
    - name: s
      type: mcp
      connection: c
      path: /mcp
      auth: { scheme: none }
      tools:
        - { name: find.it, description: d, writes: false, input_schema: { type: object } }
        - { name: Find-It, description: d, writes: false, input_schema: { type: object } }
`);
    expect(found.at(-1)).toBe(
      'agents/a.agent.yaml:14 ‹Find-It› error: two tools would be called "s_find_it": give one of them another name',
    );
  });

  it("that no provider takes are refused", async () => {
    const { found } = await loadSpec(praxisTool(`actions: [${"a".repeat(60)}]`), {
      "integrations/praxis.integration.yaml": manifestFile("praxis", { ["a".repeat(60)]: "GET /x" }),
    });
    expect(found).toEqual([
      expect.stringMatching(/:7 ‹a+› error: the tool's whole name ".*" is longer than 64 characters/),
    ]);
  });

  it("of a gated tool mean one thing in all agents of a session", async () => {
    const other = praxisTool("integration: other, actions: [crear_record], confirm: [crear_record]");
    const { agents, found } = await load({
      ...praxis,
      "integrations/other.integration.yaml": manifestFile("other", { crear_record: "POST /records" }),
      "agents/a.agent.yaml": agentFile("a", `${gatedTool}    - { name: ask, type: agent, agent: b }\n`),
      "agents/b.agent.yaml": agentFile("b", other),
      "agents/c.agent.yaml": agentFile("c", other),
    });
    expect(found).toEqual([
      'agents/a.agent.yaml:8 ‹b› error: the agent "b" did not load: mend it first',
      'agents/b.agent.yaml:7 ‹crear_record› error: "praxis_crear_record" waits for a yes in the agent "a" and means something else here: give this tool another name',
    ]);
    expect([...agents.keys()]).toEqual(["c"]);
  });

  it("of agents and of workflows and integrations are given once", async () => {
    const { agents, found } = await load({
      "agents/1.agent.yaml": agentFile("a"),
      "agents/2.agent.yaml": agentFile("a"),
      "integrations/1.integration.yaml": manifestFile("praxis", { x: "GET /x" }),
      "integrations/2.integration.yaml": manifestFile("praxis", { x: "GET /x" }),
    });
    expect(agents.size).toBe(1);
    expect(found).toEqual([
      expect.stringMatching(
        /^agents\/2\.agent\.yaml:3 ‹a› error: the agent of this name stands in .*1\.agent\.yaml already: give one another name$/,
      ),
      expect.stringMatching(
        /^integrations\/2\.integration\.yaml:3 ‹praxis› error: the integration of this name stands in/,
      ),
    ]);
  });
});

describe("an ungated tool that reaches what a gated one reaches", () => {
  const warning = (tool: string, method: string, gated: string, of = "") =>
    `warning: "${tool}" runs without a yes and reaches the same ${method} path as "${gated}"${of}, which waits for one: put it under confirm as well, or leave it out`;

  it("is warned about: another action with the same method and path", async () => {
    const { agents, found } = await loadSpec(
      praxisTool("actions: [crear_record, crear_otro, buscar_records], confirm: [crear_record]"),
      praxis,
    );
    expect(found).toEqual([
      `agents/a.agent.yaml:7 ‹crear_otro› ${warning("praxis_crear_otro", "POST", "praxis_crear_record")}`,
    ]);
    expect(agents.has("a")).toBe(true);
  });

  it("is warned about: the same action in another agent, ungated", async () => {
    const { found } = await load({
      ...praxis,
      "agents/a.agent.yaml": agentFile("a", gatedTool),
      "agents/b.agent.yaml": agentFile("b", praxisTool("actions: [crear_record]")),
    });
    expect(found).toEqual([
      `agents/b.agent.yaml:7 ‹crear_record› ${warning("praxis_crear_record", "POST", "praxis_crear_record", ' of the agent "a"')}`,
    ]);
  });

  it("is warned about: parameters stand for any step, and those with slashes for any number of them", async () => {
    const { found } = await loadSpec(
      `${praxisTool("actions: [borrar_record], confirm: [borrar_record]")}    - { name: http, type: integration, connection: c, actions: [delete, delete_one, get] }\n`,
      {
        ...praxis,
        "connections.yaml": "c: { base_url: https://praxis.example.com }\n",
        "integrations/http.integration.yaml": `apiVersion: astromesh/v1
kind: Integration
metadata: { name: http }
spec:
  actions:
    - { name: delete, description: d, parameters: { path: { required: true } }, request: { method: DELETE, path: "{path}" }, allow_slash: [path] }
    - { name: delete_one, description: d, request: { method: DELETE, path: /records/7 } }
    - { name: get, description: d, request: { method: GET, path: /records/7 } }
`,
      },
    );
    expect(found).toEqual([
      `agents/a.agent.yaml:8 ‹delete› ${warning("http_delete", "DELETE", "praxis_borrar_record")}`,
      `agents/a.agent.yaml:8 ‹delete_one› ${warning("http_delete_one", "DELETE", "praxis_borrar_record")}`,
    ]);
  });

  it("is not warned about on another host, method or path, nor when it only proposes", async () => {
    const { found } = await loadSpec(
      `${gatedTool}    - name: erp
      type: api
      connection: c
      auth: { scheme: none }
      operations:
        - { name: crear, description: d, writes: true, mode: propose, request: { method: POST, path: /records } }
        - { name: leer, description: d, writes: false, request: { method: POST, path: /records/search } }
`,
      { ...praxis, "connections.yaml": "c: { base_url: https://praxis.example.com }\n" },
    );
    expect(found).toEqual([]);
  });

  it("is warned about: a tenant's read over POST that reaches it", async () => {
    const { found } = await loadSpec(
      `${gatedTool}    - name: erp
      type: api
      connection: c
      auth: { scheme: none }
      operations:
        - { name: leer, description: d, writes: false, request: { method: POST, path: /records } }
`,
      { ...praxis, "connections.yaml": "c: { base_url: https://praxis.example.com }\n" },
    );
    expect(found).toEqual([`agents/a.agent.yaml:13 ‹leer› ${warning("erp_leer", "POST", "praxis_crear_record")}`]);
  });
});

describe("what a tool names", () => {
  it("has to be there: integrations and their actions", async () => {
    const { found } = await loadSpec(
      `  tools:
    - { name: praxi, type: integration, actions: [x] }
    - { name: two, type: integration, integration: praxsi, actions: [x] }
    - { name: praxis, type: integration, actions: [buscar_record] }
`,
      praxis,
    );
    expect(found).toEqual([
      'agents/a.agent.yaml:7 ‹praxi› error: there is no integration "praxi": did you mean "praxis"?',
      'agents/a.agent.yaml:8 ‹praxsi› error: there is no integration "praxsi": did you mean "praxis"?',
      'agents/a.agent.yaml:9 ‹buscar_record› error: the integration "praxis" has no action "buscar_record": it must be buscar_records, crear_record, crear_otro or borrar_record: did you mean buscar_records?',
    ]);
  });

  it("is told to be bad when its own file is", async () => {
    const { found } = await loadSpec("  tools: [{ name: praxis, type: integration, actions: [x] }]\n", {
      "integrations/praxis.integration.yaml": manifestFile("praxis", { x: "GRAB /x" }),
    });
    expect(found).toEqual([
      'agents/a.agent.yaml:6 ‹praxis› error: the integration "praxis" did not load: mend its file first',
      'integrations/praxis.integration.yaml:10 ‹GRAB› error: "method" must be GET, POST, PUT, PATCH or DELETE',
    ]);
  });

  it("may be a connection that each run brings: that is a warning", async () => {
    const { agents, found } = await loadSpec(
      "  tools: [{ name: praxis, type: integration, connection: man, actions: [buscar_records] }]\n",
      { ...praxis, "connections.yaml": "main: { base_url: https://x.example.com }\n" },
    );
    expect(found).toEqual([
      'agents/a.agent.yaml:6 ‹man› warning: there is no connection of this name in connections.yaml: did you mean "main"?',
    ]);
    expect(agents.has("a")).toBe(true);
  });

  it("is a connection wherever the manifest has no base URL or needs a credential", async () => {
    const manifest = manifestFile("praxis", { x: "GET /x" });
    const tool = "  tools: [{ name: praxis, type: integration, actions: [x] }]\n";
    const needs = async (changed: string) =>
      (await loadSpec(tool, { "integrations/p.integration.yaml": changed })).found;
    const missing = (what: string) =>
      `agents/a.agent.yaml:6 ‹{› error: "connection" is missing: the integration "praxis" needs its ${what}; write the name of an entry of connections.yaml`;
    expect(await needs(manifest.replace(/ {2}base_url.*\n/, ""))).toEqual([missing("base_url")]);
    const signed = manifest.replace("spec:\n", "spec:\n  auth: { scheme: bearer, credential: k }\n");
    expect(await needs(signed)).toEqual([missing("credential")]);
    expect(await needs(manifest)).toEqual([]);
  });

  it("is a built-in tool that there is", async () => {
    const { found } = await load(
      { "agents/a.agent.yaml": agentFile("a", "  tools: [{ name: datetme_now, type: builtin }]\n") },
      ["datetime_now", "calculator"],
    );
    expect(found).toEqual([
      "agents/a.agent.yaml:6 ‹datetme_now› error: the name of a built-in tool must be datetime_now or calculator: did you mean datetime_now?",
    ]);
  });
});
