import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Deadline } from "./deadline.js";
import type { HttpFault } from "./fault.js";
import type { HttpClient } from "./http-client.js";
import { guardedFetch } from "./mcp-fetch.js";

/** A tenant's MCP server and what a session with it is signed with. */
export interface McpTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** An open session. `fault` tells why its connection broke, once it did. */
export interface McpSession {
  readonly client: Client;
  fault(): HttpFault | undefined;
}

/** Sessions with MCP servers, one a server and credential, kept while they are used. */
export interface McpSessions {
  /**
   * The session with a server, opened where there is none.
   * @throws HttpFault, and whatever the SDK throws of a server that speaks no MCP; nothing was called then
   */
  open(target: McpTarget, deadline: Deadline): Promise<McpSession>;
  /** Forgets a session that is no longer good; the next `open` makes another. */
  drop(target: McpTarget): void;
  close(): Promise<void>;
}

export interface McpSessionsOptions {
  readonly http: HttpClient;
  /** Milliseconds after which an unused session is ended. Default 60 s. */
  readonly idleMs?: number;
  /** Sessions at the same time; the one unused the longest goes. Default 64. */
  readonly maxSessions?: number;
}

interface Entry {
  readonly session: Promise<McpSession & { readonly transport: StreamableHTTPClientTransport }>;
  timer?: NodeJS.Timeout;
}

/** How long a server may take to say hello, and to take note that a session ends, in milliseconds. */
const helloMs = 15_000;
const goodbyeMs = 1_000;

export function createMcpSessions({ http, idleMs = 60_000, maxSessions = 64 }: McpSessionsOptions): McpSessions {
  // In the order of use: the first entry is the one unused the longest.
  const entries = new Map<string, Entry>();

  function take(key: string): Entry | undefined {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    clearTimeout(entry.timer);
    entries.delete(key);
    return entry;
  }

  function keep(key: string, entry: Entry): void {
    entry.timer = setTimeout(() => void end(key), idleMs).unref();
    entries.set(key, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= maxSessions) break;
      void end(oldest);
    }
  }

  async function end(key: string): Promise<void> {
    const entry = take(key);
    const session = await entry?.session.catch(() => undefined);
    if (session === undefined) return;
    // The SDK's goodbye has no time limit of its own; closing the client ends it.
    const late = setTimeout(() => void session.client.close(), goodbyeMs);
    await session.transport.terminateSession().catch(() => undefined);
    clearTimeout(late);
    await session.client.close();
  }

  return {
    async open(target, deadline) {
      const key = keyOf(target);
      const known = take(key);
      const entry = known ?? { session: connect(http, target) };
      keep(key, entry);
      if (known === undefined) entry.session.catch(() => entries.get(key) === entry && take(key));
      return await orDeadline(entry.session, deadline);
    },
    drop(target) {
      void end(keyOf(target));
    },
    async close() {
      await Promise.all([...entries.keys()].map((key) => end(key)));
    },
  };
}

function keyOf({ url, headers }: McpTarget): string {
  return JSON.stringify([url.href, headers]);
}

async function connect(http: HttpClient, target: McpTarget) {
  // Loaded on first use: most processes talk to no MCP server.
  const sdk = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const client = new sdk.Client({ name: "dale", version: "1" });
  let broken: HttpFault | undefined;
  const transport = new StreamableHTTPClientTransport(target.url, {
    requestInit: { headers: target.headers },
    fetch: guardedFetch(http, (fault) => {
      broken ??= fault;
      // The SDK would wait for an answer that can no longer come.
      void client.close();
    }),
  });
  try {
    await client.connect(transport, { timeout: helloMs });
  } catch (cause) {
    await client.close();
    throw broken ?? cause;
  }
  return { client, transport, fault: () => broken };
}

/** Leaves a session that still opens to those who have more time. */
function orDeadline<T>(work: Promise<T>, deadline: Deadline): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(deadline.signal.reason);
    deadline.signal.addEventListener("abort", stop, { once: true });
    if (deadline.signal.aborted) stop();
    work.then(resolve, reject).finally(() => deadline.signal.removeEventListener("abort", stop));
  });
}
