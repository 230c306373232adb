import { z } from "zod";
import { anyText, flag, headerName, identifier, jsonObject, rateLimitShape, seconds, slug, text } from "./fields.js";
import { objectSchemaShape, parametersShape } from "./parameters.js";
import { methodShape, requestShape, responseShape } from "./request-shape.js";

/** Keys of Astromesh's that a tool of any type may carry. What Dale does not carry out is said as a warning. */
const anywhere = {
  rate_limit: rateLimitShape.optional(),
  requires_approval: flag().optional(),
  timeout_seconds: seconds(600, 30).optional(),
};

/** `confirm` gates integrations only. On the other types it is accepted, and warned about. */
const inert = { confirm: z.unknown().optional() };

const integration = z.strictObject({
  type: z.literal("integration"),
  name: slug("praxis"),
  integration: slug("praxis").optional(),
  description: anyText().optional(),
  connection: text("praxis_main").optional(),
  actions: z.array(identifier("buscar_records")).min(1).meta({ example: "[buscar_records]" }),
  confirm: z.array(identifier("crear_record")).default([]),
  ...anywhere,
});

const tenantAuth = [
  z.strictObject({ scheme: z.literal("none") }),
  z.strictObject({ scheme: z.literal("bearer") }),
  z.strictObject({
    scheme: z.literal("header"),
    header: headerName("X-Api-Key").refine(
      (name) => !/^(host|content-type|content-length|accept|connection|transfer-encoding|cookie|mcp-.*)$/i.test(name),
      { error: "is a header that the call itself needs: name another, for example X-Api-Key" },
    ),
  }),
] as const;

const apiAuth = z
  .discriminatedUnion("scheme", [
    ...tenantAuth,
    z.strictObject({ scheme: z.literal("basic") }),
    z.strictObject({ scheme: z.literal("query"), param: text("key") }),
  ])
  .meta({ example: "{ scheme: bearer }" });
const mcpAuth = z.discriminatedUnion("scheme", tenantAuth).meta({ example: "{ scheme: bearer }" });

/** The two keys that say whether a tenant's operation writes; held against each other in `tool.ts`. */
const writing = { writes: flag(), mode: z.literal("propose").optional() };

const { query, body, path } = requestShape.shape;
const operation = z.strictObject({
  name: identifier("crear_pedido"),
  title: text("Create an order").optional(),
  description: text("Creates an order."),
  ...writing,
  parameters: parametersShape,
  request: z
    .strictObject({
      method: methodShape,
      path: path.regex(/^\//, { error: "has to begin with “/”" }),
      query,
      body,
    })
    .meta({ example: "{ method: GET, path: /orders }" }),
  response: responseShape.default({}),
});

const api = z.strictObject({
  type: z.literal("api"),
  name: slug("erp-cliente"),
  description: anyText().optional(),
  connection: text("erp_main"),
  auth: apiAuth,
  operations: z.array(operation).min(1).max(200).meta({ example: "[{ name: …, writes: false, request: … }]" }),
  ...anywhere,
  ...inert,
});

const serverTool = z.strictObject({
  name: text("buscar_ticket").max(128),
  title: text("Find a ticket").optional(),
  description: text("Finds a ticket."),
  ...writing,
  input_schema: objectSchemaShape,
});

const mcp = z.strictObject({
  type: z.literal("mcp"),
  name: slug("soporte").max(30),
  description: anyText().optional(),
  connection: text("soporte_mcp"),
  path: text("/mcp").regex(/^\/[^\s?#\\\0-\x1f]*$/, { error: "has to begin with “/”, without query and fragment" }),
  auth: mcpAuth,
  tools: z.array(serverTool).min(1).max(200).meta({ example: "[{ name: …, writes: false, input_schema: … }]" }),
  ...anywhere,
  ...inert,
});

const agent = z.strictObject({
  type: z.literal("agent"),
  name: identifier("ask_specialist"),
  agent: text("especialista"),
  description: text("Asks the specialist.").optional(),
  parameters: objectSchemaShape.optional(),
  context_transform: z.unknown().optional(),
  ...anywhere,
  ...inert,
});

const builtin = z.strictObject({
  type: z.literal("builtin"),
  name: identifier("datetime_now"),
  description: text("Tells the time.").optional(),
  parameters: objectSchemaShape.optional(),
  config: jsonObject("{ … }").default({}),
  ...anywhere,
  ...inert,
});

/** `internal` is Astromesh's older name of `client`. */
const client = z.strictObject({
  type: z.enum(["client", "internal"]),
  name: identifier("lookup_company"),
  description: text("Looks up a company."),
  parameters: objectSchemaShape.optional(),
  ...anywhere,
  ...inert,
});

export const toolShape = z.discriminatedUnion("type", [integration, api, mcp, agent, builtin, client]);

export const toolsShape = z
  .array(toolShape)
  .max(200)
  .meta({ example: "[{ name: praxis, type: integration, connection: praxis_main, actions: [buscar_records] }]" })
  .default([]);

export type ToolShape = z.output<typeof toolShape>;
