import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { secureHeaders } from "hono/secure-headers";
import type { Access } from "../access.js";
import type { HttpPorts } from "../ports.js";

const files: Readonly<Record<string, string>> = {
  "console.css": "text/css; charset=utf-8",
  "console.js": "text/javascript; charset=utf-8",
  "sign-in.js": "text/javascript; charset=utf-8",
};

/** The operators' console: a page that reads /v1, and its sign-in. */
export function consoleRoutes(ports: Pick<HttpPorts, "now">, access: Access): Hono {
  const routes = new Hono();
  const headers = secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", "data:"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
  });

  routes.get("/", headers, access.page, async (c) => c.html(await page("console.html")));
  routes.get("/sign-in", headers, async (c) => (access.open ? c.redirect("/") : c.html(await page("sign-in.html"))));
  routes.post("/sign-in", access.sameSite, bodyLimit({ maxSize: 16 * 1024 }), async (c) => {
    const form = await c.req.parseBody();
    const token = typeof form.token === "string" ? form.token : "";
    return access.signIn(c, token, ports.now()) ? c.redirect("/", 303) : c.redirect("/sign-in?wrong", 303);
  });
  routes.post("/sign-out", access.sameSite, (c) => {
    access.signOut(c);
    return c.redirect("/sign-in", 303);
  });
  routes.get("/console/:file", headers, async (c) => {
    const type = files[c.req.param("file")];
    if (!type) return c.notFound();
    return c.body(await page(c.req.param("file")), 200, { "content-type": type, "cache-control": "no-cache" });
  });
  return routes;
}

function page(file: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`../pages/${file}`, import.meta.url)), "utf8");
}
