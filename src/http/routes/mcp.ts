import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { DaleError } from "../../errors/index.js";
import type { Access } from "../access.js";
import type { HttpPorts } from "../ports.js";

/** How long a client waits for an agent at most. */
const waitMs = 5 * 60_000;

const input = z.strictObject({
  query: z.string().min(1).max(200_000),
  session_id: z
    .string()
    .regex(/^[^\s\p{C}]{1,200}$/u)
    .default("default"),
});

/**
 * Our MCP server, streamable HTTP without sessions: each agent is a tool. Its runs are never a person's, whatever the
 * caller says: they may read, and can neither confirm nor propose a gated call.
 */
export function mcpRoutes(ports: Pick<HttpPorts, "agents" | "runs">, access: Access): Hono {
  const routes = new Hono();
  const limit = bodyLimit({ maxSize: 1024 * 1024 });
  routes.use("/mcp", access.sameSite, access.required);
  routes.all("/mcp", limit, async (c) => {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = agentServer(ports, c.req.raw.signal);
    await server.connect(transport);
    return transport.handleRequest(c.req.raw);
  });
  return routes;
}

function agentServer(ports: Pick<HttpPorts, "agents" | "runs">, gone: AbortSignal): Server {
  const server = new Server({ name: "dale", version: "0.1.0" }, { capabilities: { tools: {} } });

  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: ports.agents().map(({ name, description }) => ({
      name,
      description: `${description} (asks the agent; it cannot confirm anything on a person's behalf)`,
      inputSchema: {
        type: "object" as const,
        properties: {
          query: { type: "string", description: "What to ask" },
          session_id: { type: "string", description: "The conversation to go on with" },
        },
        required: ["query"],
        additionalProperties: false,
      },
    })),
  }));

  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const agent = ports.agents().find(({ name }) => name === params.name);
    if (!agent) return failure(`No agent is named ${params.name}.`);
    const parsed = input.safeParse(params.arguments ?? {});
    if (!parsed.success) return failure(z.prettifyError(parsed.error));
    try {
      const record = await ports.runs.run(
        {
          origin: "mcp",
          agent: agent.name,
          session: `mcp:${agent.name}:${parsed.data.session_id}`,
          query: parsed.data.query,
          desdeHumano: false,
        },
        AbortSignal.any([gone, AbortSignal.timeout(waitMs)]),
      );
      return record.outcome === "failed"
        ? failure(record.answer)
        : { content: [{ type: "text", text: record.answer }] };
    } catch (error) {
      return failure(error instanceof DaleError ? error.message : "The agent could not be asked.");
    }
  });
  return server;
}

function failure(text: string) {
  return { isError: true, content: [{ type: "text" as const, text }] };
}
