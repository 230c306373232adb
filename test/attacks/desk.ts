import { cobranzasAgent, praxisManifest } from "../fixtures/cobranzas.js";

/**
 * The agents that are attacked. They share one integration and one connection, so that a grant could be used by any of
 * them; each has a model that a puppeteer plays.
 */
export const agentNames = ["cobranzas", "modelo", "jefe", "jefe-modelo", "cadena", "cadena-modelo"] as const;

/** Waits for a reviewer, too, where there are rules. */
export const reviewedTool = "praxis_pagar_record";

export const policies: unknown = { require_confirmation: [{ tools: [reviewedTool], on_missing: "request_approval" }] };

/** Words of the prompts of those that are asked things without a marker. */
export const promptWords = { sub: "SUB-AGENT", link: "CHAIN-LINK" } as const;

const string = (description: string) => ({ type: "string", description });

/** Creates, deletes and pays, all of it gated, and reads. */
export const manifest: unknown = {
  ...(praxisManifest as object),
  spec: {
    ...(praxisManifest as { spec: object }).spec,
    actions: [
      {
        name: "buscar_records",
        description: "Finds records.",
        parameters: { entidad: { ...string("Which records"), required: true } },
        writes: false,
        request: { method: "GET", path: "/records/{entidad}" },
      },
      write("crear_record", "/records"),
      write("borrar_record", "/records/borrar"),
      write("pagar_record", "/records/pagar"),
    ],
  },
};

function write(name: string, path: string): unknown {
  const parameters = {
    entidad: string("Which records"),
    cuotas: { type: "integer", description: "Instalments" },
    monto: { type: "number", description: "Amount" },
    nota: string("A note"),
    detalle: string("More"),
    datos: { type: "object", description: "Anything else" },
  };
  const body = Object.fromEntries(Object.keys(parameters).map((parameter) => [parameter, `{${parameter}}`]));
  return {
    name,
    description: "Writes.",
    parameters,
    writes: true,
    request: { method: "POST", path, body },
    idempotency_header: "Idempotency-Key",
  };
}

const gated = {
  name: "praxis",
  type: "integration",
  connection: "praxis_main",
  actions: ["buscar_records", "crear_record", "borrar_record", "pagar_record"],
  confirm: ["crear_record", "borrar_record", "pagar_record"],
};
const askSub = { name: "ask_sub", type: "agent", agent: "sub", description: "Asks the specialist" };

/** Agent files by name, on that model endpoint. */
export function agentFiles(endpoint: string): Readonly<Record<string, unknown>> {
  const agent = (name: string, spec: Readonly<Record<string, unknown>>) => ({
    ...(cobranzasAgent(endpoint, spec) as object),
    metadata: { name, version: "0.1.0" },
  });
  const prompt = (system: string) => ({ prompts: { system } });
  const model = { gate: { resume: "model" } };
  const links = [{ agent: "archivo" }, { agent: "eco", input: "si" }];
  return {
    cobranzas: agent("cobranzas", { tools: [gated] }),
    modelo: agent("modelo", { tools: [gated], ...model }),
    jefe: agent("jefe", { tools: [gated, askSub] }),
    "jefe-modelo": agent("jefe-modelo", { tools: [askSub], ...model }),
    sub: agent("sub", { tools: [gated], ...prompt(promptWords.sub) }),
    cadena: agent("cadena", { tools: [], chain: { on_complete: links } }),
    "cadena-modelo": agent("cadena-modelo", {
      tools: [],
      ...model,
      chain: { mode: "parallel", on_complete: [{ agent: "archivo" }, { agent: "copia" }] },
    }),
    archivo: agent("archivo", { tools: [gated] }),
    copia: agent("copia", { tools: [gated] }),
    eco: agent("eco", { tools: [gated], ...prompt(promptWords.link) }),
  };
}

/** Runs in nobody's name: by the API, and every minute by its schedule, each time with a yes. */
export const workflowFile: unknown = {
  apiVersion: "astromesh/v1",
  kind: "Workflow",
  metadata: { name: "informe", version: "0.1.0" },
  spec: {
    triggers: [{ schedule: "* * * * *", query: "si m-a6-schedule" }],
    steps: [{ name: "ask", agent: "cobranzas", input: "{{ trigger.query }}" }],
  },
};
