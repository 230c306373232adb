/**
 * What an agent can call: integrations over HTTP by manifest, a tenant's own API and MCP servers, built-ins. It makes
 * the calls and bounds them; whether a call may be made is decided by the runtime that calls it.
 */
export type { CallContext, ConnectionOverrides, Tool, ToolKind, ToolResult } from "./tool.js";
