import { Hono } from "hono";
import type { Access } from "../access.js";
import type { HttpPorts } from "../ports.js";

/** Liveness, readiness and metrics. */
export function healthRoutes(ports: Pick<HttpPorts, "readiness" | "metrics">, access: Access): Hono {
  const routes = new Hono();
  routes.get("/healthz", (c) => c.json({ status: "ok" }));
  routes.get("/readyz", async (c) => {
    const { ready, parts } = await ports.readiness();
    return c.json({ status: ready ? "ready" : "not ready", parts }, ready ? 200 : 503);
  });
  routes.get("/metrics", access.required, async (c) => {
    const { contentType, text } = await ports.metrics();
    return c.body(text, 200, { "content-type": contentType });
  });
  return routes;
}
