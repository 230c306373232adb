/**
 * Everything that is reached over HTTP: webhooks and webchat pages (handed to their adapters), the API, the console, the
 * queue dashboard, the MCP endpoint, health and metrics. It authenticates, parses and answers; it decides nothing.
 */
export { createHttpApp, type HttpApp } from "./app.js";
export type { ChannelListing, HttpPorts, Readiness } from "./ports.js";
export { type HttpServer, listen } from "./server.js";
export { sessionsNamed } from "./session-names.js";
