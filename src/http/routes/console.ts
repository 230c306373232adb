import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Access } from "../access.js";
import { pageFile, pageHeaders } from "../page-files.js";
import type { HttpPorts } from "../ports.js";

const files: Readonly<Record<string, string>> = {
  "console.css": "text/css; charset=utf-8",
  "console.js": "text/javascript; charset=utf-8",
  "pair.js": "text/javascript; charset=utf-8",
  "sign-in.js": "text/javascript; charset=utf-8",
};

/** The operators' console: a page that reads /v1, and its sign-in. */
export function consoleRoutes(ports: Pick<HttpPorts, "now">, access: Access): Hono {
  const routes = new Hono();
  routes.get("/", pageHeaders, access.page, async (c) => c.html(await pageFile("console.html")));
  routes.get("/sign-in", pageHeaders, async (c) =>
    access.open ? c.redirect("/") : c.html(await pageFile("sign-in.html")),
  );
  routes.post("/sign-in", access.sameSite, bodyLimit({ maxSize: 16 * 1024 }), async (c) => {
    const form = await c.req.parseBody();
    const token = typeof form.token === "string" ? form.token : "";
    return access.signIn(c, token, ports.now()) ? c.redirect("/", 303) : c.redirect("/sign-in?wrong", 303);
  });
  routes.post("/sign-out", access.sameSite, (c) => {
    access.signOut(c);
    return c.redirect("/sign-in", 303);
  });
  routes.get("/console/:file", pageHeaders, async (c) => {
    const type = files[c.req.param("file")];
    if (!type) return c.notFound();
    return c.body(await pageFile(c.req.param("file")), 200, { "content-type": type, "cache-control": "no-cache" });
  });
  return routes;
}
