import type { HttpServer } from "../http/index.js";
import { startAccount } from "./account-role.js";
import { type CoreOptions, openCore } from "./core.js";
import { startHttpRole } from "./http-role.js";
import { startWorkerRole } from "./worker-role.js";

export interface Dale {
  /** @returns lines for the person at the terminal: where to go */
  start(): Promise<{ readonly lines: readonly string[]; readonly port?: number }>;
  /** Stops receiving, finishes what runs, sends what is under way, then closes. */
  stop(): Promise<void>;
}

/** Longest wait for turns and requests that run when we stop, ms. */
const graceMs = 60_000;

/** One process of Dale, with the roles that it has. What is started is taken down in the opposite order. */
export function createDale(options: CoreOptions): Dale {
  const closers: (() => Promise<void> | void)[] = [];
  return {
    async start() {
      const core = await openCore(options, (close) => closers.push(close));
      if (core.has("worker")) await startWorkerRole(core, graceMs);
      for (const line of core.lines.values()) await startAccount(core, line, graceMs);
      if (!core.has("http")) return { lines: [] };
      const server = await startHttpRole(core, graceMs);
      return { lines: addresses(server, options), port: server.port };
    },
    async stop() {
      for (const close of closers.splice(0).reverse()) {
        await Promise.resolve(close()).catch((error: unknown) => {
          options.logger.warn({ error }, "not closed cleanly");
        });
      }
    },
  };
}

function addresses({ host, port }: HttpServer, { config }: CoreOptions): readonly string[] {
  const everywhere = host === "0.0.0.0" || host === "::";
  const shown = everywhere ? "localhost" : host.includes(":") ? `[${host}]` : host;
  const base = `http://${shown}:${port}`;
  const chats = config.channels.filter(({ channel }) => channel === "webchat");
  return [
    "",
    ...chats.map(({ name, agent }) => `  Chat with ${agent}:  ${base}/chat/${name}`),
    `  Console:  ${base}/`,
    `  Queues:   ${base}/queues`,
    "",
  ];
}
