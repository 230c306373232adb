import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

interface McpOptions {
  readonly url: string;
  readonly token?: string;
}

/** Our MCP server on stdio, for clients that start programs: hands everything on to a running Dale's `/mcp`. */
export async function mcp(options: McpOptions): Promise<void> {
  const token = options.token ?? process.env.DALE_TOKEN;
  const client = new Client({ name: "dale-stdio", version: "0.1.0" });
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", options.url), { requestInit: { headers } }));
  } catch {
    console.error(`Dale does not answer at ${options.url}: start it, or check --url and --token (DALE_TOKEN).`);
    process.exitCode = 1;
    return;
  }
  const server = new Server({ name: "dale", version: "0.1.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => client.listTools());
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    client.callTool(params, undefined, { timeout: 310_000 }),
  );
  server.onclose = () => void client.close();
  await server.connect(new StdioServerTransport());
  process.stdin.once("end", () => void server.close());
}
