import { Readable } from "node:stream";
import { Hono } from "hono";
import { z } from "zod";
import { exportCsv, reportHtml } from "../../evidence/index.js";
import type { HttpPorts } from "../ports.js";
import { createSessionFinder } from "../session-names.js";

const name = z.string().min(1).max(500).optional();
const wanted = z
  .strictObject({
    session: name,
    proposal: name,
    format: z.enum(["jsonl", "csv", "html"]).default("jsonl"),
    locale: z.enum(["es", "en"]).default("es"),
  })
  .refine(({ format, proposal }) => format !== "html" || proposal !== undefined, {
    error: "html is one page for one proposal: say which",
  });
const person = z.strictObject({ session: z.string().min(1).max(500) });

const types = {
  jsonl: "application/jsonl; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  html: "text/html; charset=utf-8",
};

/**
 * The evidence for those who take it elsewhere: `GET /evidence/export?session=&proposal=&format=jsonl|csv|html&locale=es|en`,
 * `GET /evidence/head` (the newest signed state, and the public key), `POST /evidence/erase` with `{session}`: every session
 * that the listing finds by this name.
 */
export function evidenceRoutes(ports: Pick<HttpPorts, "agents" | "evidence" | "turns">): Hono {
  const routes = new Hono();
  const { evidence } = ports;
  const sessionsOf = createSessionFinder(ports);
  /** A session may be named by the `ses_…` of the logs too. */
  const whole = async (session: string) =>
    session.startsWith("ses_") ? ((await ports.turns.resolve(session)) ?? session) : session;

  routes.get("/evidence/export", async (c) => {
    const parsed = wanted.safeParse(c.req.query());
    if (!parsed.success) {
      return c.json({ error: { code: "bad_request", message: z.prettifyError(parsed.error) } }, 400);
    }
    const { session, proposal, format, locale } = parsed.data;
    const scope = session === undefined ? {} : { session: await whole(session) };
    if (format !== "html" || proposal === undefined) {
      const lines = await begun(evidence.export({ ...scope, ...(proposal === undefined ? {} : { proposal }) }));
      c.header("content-type", types[format]);
      c.header("content-disposition", `attachment; filename="evidence.${format}"`);
      const body = format === "csv" ? exportCsv(lines) : lines;
      return c.body(Readable.toWeb(Readable.from(body)) as ReadableStream);
    }
    const page = await reportHtml(proposal, locale, (of) => evidence.export({ ...scope, proposal: of }));
    if (page === undefined) return c.json({ error: { code: "not_found", message: "No such proposal." } }, 404);
    c.header("content-type", types.html);
    c.header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'");
    return c.body(page);
  });

  routes.get("/evidence/head", async (c) => {
    const { publicKey, block } = await evidence.head();
    return c.json({
      public_key: publicKey,
      head: block ? { ...block, at: new Date(block.at).toISOString() } : null,
    });
  });

  routes.post("/evidence/erase", async (c) => {
    const parsed = person.safeParse(await c.req.json().catch(() => undefined));
    if (!parsed.success) {
      return c.json({ error: { code: "bad_request", message: z.prettifyError(parsed.error) } }, 400);
    }
    let erased = false;
    for (const session of await sessionsOf(parsed.data.session)) erased = (await evidence.erase(session)) || erased;
    return c.json({ erased });
  });

  return routes;
}

/** The same lines; what goes wrong before the first one is thrown here, while an answer can still say so. */
async function begun(lines: AsyncIterable<string>): Promise<AsyncIterable<string>> {
  const reading = lines[Symbol.asyncIterator]();
  const first = await reading.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    for (let next = await reading.next(); !next.done; next = await reading.next()) yield next.value;
  })();
}
