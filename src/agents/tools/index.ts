/**
 * What an agent can call: integrations over HTTP by manifest, a tenant's own API and MCP servers, built-ins. It makes
 * the calls and bounds them; whether a call may be made is decided by the runtime that calls it. It refuses addresses
 * that are not public where a tenant chose them, redirects that could repeat a write or carry a credential elsewhere,
 * and answers that are no text or too large; it never tells a model or a log what a credential is.
 */

export { builtinNames } from "./builtin-tools.js";
export { createNetwork, type Network, type NetworkOptions } from "./network.js";
export type { CallContext, ConnectionOverrides, Tool, ToolResult } from "./tool.js";
export { createToolset, type ToolsetOptions } from "./toolset.js";
