import { Hono } from "hono";
import { DaleError } from "../errors/index.js";
import { createAccess } from "./access.js";
import type { HttpPorts } from "./ports.js";
import { apiRoutes } from "./routes/api.js";
import { approvalRoutes } from "./routes/approvals.js";
import { channelRoutes } from "./routes/channels.js";
import { consoleRoutes } from "./routes/console.js";
import { evidenceRoutes } from "./routes/evidence.js";
import { healthRoutes } from "./routes/health.js";
import { mcpRoutes } from "./routes/mcp.js";
import { pairRoutes } from "./routes/pair.js";
import { policyRoutes } from "./routes/policies.js";
import { queueRoutes } from "./routes/queues.js";
import { runRoutes } from "./routes/run.js";

export type HttpApp = Hono;

export function createHttpApp(ports: HttpPorts): HttpApp {
  const app = new Hono();
  const access = createAccess(ports.token, ports.now);

  app.onError((error, c) => {
    const known = error instanceof DaleError ? error : undefined;
    const status = known ? (statusOf[known.code] ?? 500) : 500;
    if (!known) ports.logger.error({ path: c.req.routePath, name: error.name }, "request failed");
    const message = known?.message ?? "Something went wrong here; the log says more.";
    if (status === 503) c.header("Retry-After", "2");
    return c.json({ error: { code: known?.code ?? "unexpected", message } }, status);
  });
  app.notFound((c) => c.json({ error: { code: "not_found", message: "There is nothing here." } }, 404));

  app.route("/", healthRoutes(ports, access));
  app.route("/", channelRoutes(ports));
  app.use("/v1/*", access.sameSite, access.required);
  app.route("/v1", runRoutes(ports));
  app.route("/v1", apiRoutes(ports));
  app.route("/v1", evidenceRoutes(ports));
  app.route("/v1", approvalRoutes(ports));
  app.route("/v1", policyRoutes(ports));
  app.route("/", mcpRoutes(ports, access));
  app.route("/", pairRoutes(ports, access));
  app.route("/", queueRoutes(ports, access));
  app.route("/", consoleRoutes(ports, access));
  return app;
}

const statusOf: Partial<Record<string, 404 | 409 | 502 | 503 | 504>> = {
  store_unavailable: 503,
  archive_unavailable: 503,
  archive_foreign: 409,
  evidence_refused: 409,
  agent_unknown: 404,
  pairing_failed: 409,
  turn_timeout: 504,
  model_failed: 502,
};
