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

/** Lent for one call. */
export interface McpSession {
  readonly client: Client;
  /** Why its connection broke, once it did. */
  fault(): HttpFault | undefined;
  /** Makes sure that no later call gets this session; those that have it may finish. */
  discard(): void;
}

/** Sessions with MCP servers, one a server and credential, kept while they are used. */
export interface McpSessions {
  /**
   * Lends the session with a server to `call`, opened where there is none.
   * @throws HttpFault, and whatever the SDK throws of a server that speaks no MCP, before `call` was begun; or what `call`
   * throws
   */
  use<T>(target: McpTarget, deadline: Deadline, call: (session: McpSession) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface McpSessionsOptions {
  readonly http: HttpClient;
  /** Milliseconds after which an unused session is ended. Default 60 s. */
  readonly idleMs?: number;
  /** Sessions kept at the same time; of those that nobody uses the oldest goes. Default 64. */
  readonly maxSessions?: number;
}

interface Connected {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  fault(): HttpFault | undefined;
}

interface Entry {
  readonly connected: Promise<Connected>;
  /** Calls that have it right now. */
  users: number;
  timer?: NodeJS.Timeout;
}

/** How long a server may take to say hello, and to take note that a session ends, in milliseconds. */
const helloMs = 15_000;
const goodbyeMs = 1_000;

export function createMcpSessions({ http, idleMs = 60_000, maxSessions = 64 }: McpSessionsOptions): McpSessions {
  // In the order of their last use.
  const entries = new Map<string, Entry>();

  function borrow(key: string, target: McpTarget): Entry {
    const entry = entries.get(key) ?? begin(key, target);
    clearTimeout(entry.timer);
    entry.users += 1;
    entries.delete(key);
    entries.set(key, entry);
    return entry;
  }

  function begin(key: string, target: McpTarget): Entry {
    const entry: Entry = { connected: connect(http, target), users: 0 };
    entry.connected.catch(() => forget(key, entry));
    return entry;
  }

  function giveBack(key: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    if (entries.get(key) !== entry) void end(entry);
    else entry.timer = setTimeout(() => forget(key, entry), idleMs).unref();
    for (const [other, unused] of entries) {
      if (entries.size <= maxSessions) break;
      if (unused.users === 0) forget(other, unused);
    }
  }

  function forget(key: string, entry: Entry): void {
    if (entries.get(key) === entry) entries.delete(key);
    clearTimeout(entry.timer);
    if (entry.users === 0) void end(entry);
  }

  return {
    async use(target, deadline, call) {
      const key = JSON.stringify([target.url.href, target.headers]);
      const entry = borrow(key, target);
      try {
        const { client, fault } = await orDeadline(entry.connected, deadline);
        return await call({ client, fault, discard: () => forget(key, entry) });
      } finally {
        giveBack(key, entry);
      }
    },
    async close() {
      const all = [...entries.values()];
      entries.clear();
      await Promise.all(
        all.map((entry) => {
          clearTimeout(entry.timer);
          return end(entry);
        }),
      );
    },
  };
}

async function end(entry: Entry): Promise<void> {
  const session = await entry.connected.catch(() => undefined);
  if (session === undefined) return;
  // The SDK's goodbye has no time limit of its own; closing the client ends it.
  const late = setTimeout(() => void session.client.close(), goodbyeMs);
  await session.transport.terminateSession().catch(() => undefined);
  clearTimeout(late);
  await session.client.close();
}

async function connect(http: HttpClient, target: McpTarget): Promise<Connected> {
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

function orDeadline<T>(work: Promise<T>, deadline: Deadline): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(deadline.signal.reason);
    deadline.signal.addEventListener("abort", stop, { once: true });
    if (deadline.signal.aborted) stop();
    work.then(resolve, reject).finally(() => deadline.signal.removeEventListener("abort", stop));
  });
}
