import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../../canonical/index.js";
import type { McpServerTool, McpTool } from "../spec/index.js";
import { refusedResult, trim } from "./answer.js";
import { type Access, openAccess, runConnection } from "./credential.js";
import { type Deadline, startDeadline } from "./deadline.js";
import { limitsOf, toolName } from "./declared.js";
import { faultResult, HttpFault, notDone, tooMany } from "./fault.js";
import { failed, type HttpCaller } from "./http-call.js";
import type { McpSession, McpTarget } from "./mcp-sessions.js";
import { argumentCheck, closed } from "./parameters.js";
import { percentEncode } from "./path.js";
import { type KeyedLimit, waitForTurn } from "./rate-limit.js";
import { parseBaseUrl } from "./request.js";
import { refuseToCall, tenantAuth, tenantTimeoutMs } from "./tenant-access.js";
import type { CallContext, Tool, ToolResult } from "./tool.js";

/**
 * A tenant's own MCP server. Only the declared tools exist, under the declared schemas, whatever else the server lists:
 * it is not asked for its list. A proposing tool calls nobody.
 */
export function mcpTools(declared: McpTool, caller: HttpCaller): Tool[] {
  const limits = limitsOf([[`tool|${declared.name}|${declared.connection}`, declared.rateLimit]]);
  return declared.tools.map((tool) => {
    const name = toolName(declared.name, tool.name.toLowerCase().replace(/[^a-z0-9_]/g, "_"));
    const parameters = closed(tool.inputSchema);
    return {
      name,
      kind: "mcp",
      description: tool.description,
      parameters,
      needsConfirmation: false,
      requiresApproval: tool.proposes,
      ...(tool.title !== undefined && { title: tool.title }),
      ...(tool.proposes && { proposes: { tipo: "mcp", destino: declared.name, operacion: tool.name } as const }),
      check: argumentCheck(name, parameters),
      call: tool.proposes ? refuseToCall : (args, context) => callMcp(caller, declared, tool, limits, args, context),
    };
  });
}

async function callMcp(
  caller: HttpCaller,
  server: McpTool,
  tool: McpServerTool,
  limits: readonly KeyedLimit[],
  args: JsonObject,
  context: CallContext,
): Promise<ToolResult> {
  const deadline = startDeadline(tenantTimeoutMs, context.signal);
  try {
    const connection = runConnection(server.connection, caller.connections, context.connections);
    const access = openAccess(tenantAuth(server.auth), connection);
    const target = targetOf(server, access);
    if (!(await waitForTurn(caller.network.pacer, limits, deadline))) return tooMany;
    const result = await callWithin(caller, target, tool.name, args, deadline);
    return { ...result, content: trim(access.redact(result.content), caller.maxChars) };
  } catch (error) {
    return failed(error);
  } finally {
    deadline.end();
  }
}

function targetOf(server: McpTool, access: Access): McpTarget {
  const base = parseBaseUrl(access.baseUrl);
  const query = access.query.map(([name, value]) => `${percentEncode(name, name)}=${percentEncode(value, name)}`);
  const path = `${base.pathname.replace(/\/+$/, "")}${server.path}`;
  return {
    url: new URL(base.origin + path + (query.length > 0 ? `?${query.join("&")}` : "")),
    headers: access.headers,
  };
}

/** Statuses by which servers tell that they do not know a session (404, and 400 of the SDK's own examples). */
const forgotten = ["http_404", "http_400"];

async function callWithin(
  caller: HttpCaller,
  target: McpTarget,
  name: string,
  args: JsonObject,
  deadline: Deadline,
): Promise<ToolResult> {
  for (let attempt = 1; ; attempt++) {
    // The tool was surely not called while the session was still being opened.
    let called = false;
    const result = await caller.network.mcp
      .use(target, deadline, async (session) => {
        called = true;
        const result = await callTool(session, name, args, deadline);
        if (!result.ok && forgotten.includes(result.code)) session.discard();
        return result;
      })
      .catch((error: unknown) => resultOfError(error, called, deadline));
    // A server that does not know the session did nothing with the call: it is made once more, in a new session.
    if (result.ok || !called || !forgotten.includes(result.code) || attempt > 1) return result;
  }
}

async function callTool(session: McpSession, name: string, args: JsonObject, deadline: Deadline): Promise<ToolResult> {
  const timeout = Math.max(1, Math.ceil(deadline.remaining()));
  const options = { signal: deadline.signal, timeout, maxTotalTimeout: timeout };
  try {
    return resultOf(
      (await session.client.callTool({ name, arguments: { ...args } }, undefined, options)) as CallToolResult,
    );
  } catch (error) {
    const fault = session.fault();
    const result = await resultOfError(fault ?? error, true, deadline);
    if (fault || (!result.ok && result.code === "reset")) session.discard();
    return result;
  }
}

/** @throws DaleError `turn_aborted` when it was the caller who stopped the call */
async function resultOfError(error: unknown, called: boolean, deadline: Deadline): Promise<ToolResult> {
  const aborted = deadline.aborted();
  if (aborted) throw aborted;
  const { McpError, ErrorCode } = await import("@modelcontextprotocol/sdk/types.js");
  const { StreamableHTTPError } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  if (error instanceof HttpFault) return faultResult(new HttpFault(error.code, called && error.left));
  if (deadline.expired() || (error instanceof McpError && error.code === ErrorCode.RequestTimeout)) {
    return faultResult(new HttpFault("timeout", called));
  }
  if (error instanceof McpError && error.code === ErrorCode.ConnectionClosed) {
    return faultResult(new HttpFault("reset", called));
  }
  if (error instanceof McpError) {
    return notDone("mcp_error", `The MCP server refused the call: ${trim(error.message, 2000)}`);
  }
  if (error instanceof StreamableHTTPError && error.code !== undefined && error.code >= 400) {
    return refusedResult(error.code, "");
  }
  return faultResult(new HttpFault("bad_answer", called));
}

/** Text only: what a server sends in other forms is named, so that the model does not take it for nothing. */
function resultOf(result: CallToolResult): ToolResult {
  const parts = result.content.map((block) => {
    if (block.type === "text") return block.text;
    if (block.type === "resource" && "text" in block.resource) return block.resource.text;
    return `[${block.type} left out]`;
  });
  if (parts.length === 0 && result.structuredContent !== undefined)
    parts.push(JSON.stringify(result.structuredContent));
  const content = parts.join("\n");
  if (result.isError === true) return notDone("tool_error", content || "The tool reported an error and nothing else.");
  return { ok: true, content: content || "Done; the answer is empty." };
}
