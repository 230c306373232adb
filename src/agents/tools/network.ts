import { createHttpClient, type HttpClient, type HttpClientOptions } from "./http-client.js";
import { createMcpSessions, type McpSessions } from "./mcp-sessions.js";
import { createPacer, type Pacer } from "./rate-limit.js";

export interface NetworkOptions extends HttpClientOptions {
  /** Milliseconds on a clock that never goes back, for `rate_limit`. Default: the process's own. */
  readonly now?: () => number;
}

/**
 * What all toolsets of a process share: connection pools, sessions with MCP servers, and the count of calls, so that a
 * server's limit holds over all agents.
 */
export interface Network {
  readonly http: HttpClient;
  readonly mcp: McpSessions;
  readonly pacer: Pacer;
  /** Ends MCP sessions and closes every connection. Calls that are under way fail. */
  close(): Promise<void>;
}

export function createNetwork(options: NetworkOptions = {}): Network {
  const http = createHttpClient(options);
  const mcp = createMcpSessions({ http });
  return {
    http,
    mcp,
    pacer: createPacer(options.now ?? (() => performance.now())),
    async close() {
      await mcp.close();
      http.close();
    },
  };
}
