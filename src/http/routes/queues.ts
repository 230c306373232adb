import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import type { IServerAdapter } from "@bull-board/api/typings/app";
import { HonoAdapter } from "@bull-board/hono";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { Access } from "../access.js";
import type { HttpPorts } from "../ports.js";

/** The queue dashboard: read-only, and without texts, phone numbers or arguments. */
export function queueRoutes(ports: Pick<HttpPorts, "queues" | "turns">, access: Access): Hono {
  const server = new HonoAdapter(serveStatic);
  server.setBasePath("/queues");
  createBullBoard({
    queues: ports.queues.map((queue) => {
      const adapter = new BullMQAdapter(queue, { readOnlyMode: true });
      adapter.setFormatter("data", masked);
      // A job's name is its session, and may hold a phone number: shown as in the logs.
      adapter.setFormatter("name", (job) => ports.turns.opaque(job.name));
      return adapter;
    }),
    serverAdapter: board(server),
    options: { uiConfig: { boardTitle: "Dale" } },
  });
  const routes = new Hono();
  // The dashboard's page asks for fonts and news from outside; it works without, and nobody else learns of it.
  const headers = secureHeaders({
    // With none, a browser sends `Origin: null` with our own forms.
    referrerPolicy: "same-origin",
    contentSecurityPolicy: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'", "'unsafe-inline'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", "data:"],
      frameAncestors: ["'none'"],
    },
  });
  routes.use("/queues", access.sameSite, access.page, headers);
  routes.use("/queues/*", access.sameSite, access.page, headers);
  routes.route("/queues", server.registerPlugin());
  return routes;
}

/**
 * The two packages spell the dashboard's optional settings differently (`?:` and `| undefined`): the same to everybody but
 * the compiler, which is told so here.
 */
function board(server: HonoAdapter): IServerAdapter {
  const unspelled: object = server;
  return unspelled as IServerAdapter;
}

/** Keeps a job's shape and small words; hides everything that a person wrote or is known by. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      plain.has(key) || typeof inner !== "string" ? masked(inner) : "…",
    ]),
  );
}

const plain = new Set(["kind", "origin", "agent", "channel", "account", "provenance", "turn", "id", "proposal"]);
