import { describe, expect, it } from "vitest";
import { type ToolDeclaration, toolNames } from "../../../src/agents/spec/index.js";
import { builtinNames, createNetwork, createToolset, type Tool } from "../../../src/agents/tools/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { apiTool, callContext, firstOf, manifest, mcpTool } from "../../fixtures/tools.js";

const network = createNetwork();
const helpdesk = { description: "", proposes: false, inputSchema: { type: "object" } } as const;

describe("a built-in", () => {
  it("tells date, weekday and time in the zone of the call, of the agent, or UTC", async () => {
    const [inBuenosAires] = [
      tool({ type: "builtin", name: "fecha_actual", config: { timezone: "America/Argentina/Buenos_Aires" } }),
    ];
    expect(await said(inBuenosAires, {})).toEqual({
      date: "2024-02-29",
      time: "23:30:05",
      weekday: "Thursday",
      timezone: "America/Argentina/Buenos_Aires",
      utc: "2024-03-01T02:30:05.000Z",
    });
    expect(await said(inBuenosAires, { timezone: "Asia/Tokyo" })).toMatchObject({
      date: "2024-03-01",
      time: "11:30:05",
    });
    expect(await said(tool({ type: "builtin", name: "datetime_now", config: {} }), {})).toMatchObject({
      timezone: "UTC",
      time: "02:30:05",
    });
  });

  it("says so when there is no such zone", async () => {
    const result = await tool({ type: "builtin", name: "fecha_actual", config: {} }).call(
      { timezone: "Mars/X" },
      callContext(),
    );
    expect(result).toMatchObject({ ok: false, code: "bad_arguments", uncertain: false });
  });

  it("refuses to be one that there is not", () => {
    expect(builtinNames).toContain("fecha_actual");
    expect(() => tool({ type: "builtin", name: "borrar_todo", config: {} })).toThrow(DaleError);
  });
});

describe("a client tool", () => {
  it("checks its arguments, calls nobody, and tells the model that no result comes back", async () => {
    const made = tool({
      type: "client",
      name: "mostrar_mapa",
      description: "Shows a map",
      parameters: { type: "object", properties: { lugar: { type: "string" } }, required: ["lugar"] },
    });
    expect(made).toMatchObject({ name: "mostrar_mapa", kind: "client", needsConfirmation: false });
    expect(made.check({})).toBe("lugar is missing");
    expect(await made.call({ lugar: "Mendoza" }, callContext())).toMatchObject({ ok: true });
  });
});

describe("a toolset", () => {
  it("names its tools as the checks of agent files do", () => {
    const declared: ToolDeclaration[] = [
      { type: "integration", name: "mi-erp", manifest: "praxis", actions: ["crear_record"], confirm: [] },
      apiTool({}, { name: "erp-cliente" }),
      mcpTool({
        name: "mesa-de-ayuda",
        tools: [
          { ...helpdesk, name: "Buscar.Ticket" },
          { ...helpdesk, name: "cerrar-ticket" },
        ],
      }),
      { type: "builtin", name: "fecha_actual", config: {} },
      { type: "client", name: "mostrar-mapa", description: "", parameters: { type: "object" } },
    ];
    for (const one of declared) {
      const made = createToolset(
        { tools: [one] },
        { manifests: new Map([["praxis", manifest()]]), connections: new Map(), network },
      );
      expect(made.map(({ name }) => name)).toEqual(toolNames(one).map(({ name }) => name));
    }
  });

  it("leaves tools of type agent to the runtime", () => {
    expect(tools({ type: "agent", name: "ask_sub", agent: "especialista" })).toEqual([]);
  });

  it("refuses an integration whose manifest or action is not there", () => {
    expect(() =>
      tools({ type: "integration", name: "praxis", manifest: "praxis", actions: ["x"], confirm: [] }),
    ).toThrow(DaleError);
  });
});

function tools(declared: ToolDeclaration): readonly Tool[] {
  const now = () => Date.parse("2024-03-01T02:30:05Z");
  return createToolset({ tools: [declared] }, { manifests: new Map(), connections: new Map(), network, now });
}

function tool(declared: ToolDeclaration): Tool {
  return firstOf(tools(declared));
}

async function said(of: Tool, args: Parameters<Tool["call"]>[0]): Promise<unknown> {
  return JSON.parse((await of.call(args, callContext())).content);
}
