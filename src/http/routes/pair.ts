import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { toString as drawQr } from "qrcode";
import { z } from "zod";
import type { Access } from "../access.js";
import { pageFile, pageHeaders } from "../page-files.js";
import type { ChannelListing, HttpPorts } from "../ports.js";

const body = z.strictObject({ phone: z.string().max(40).optional() });

/** Linking an account with its phone: a page for people, and the request that it makes. */
export function pairRoutes(ports: Pick<HttpPorts, "channels" | "adapterOf" | "pairing">, access: Access): Hono {
  const routes = new Hono();

  async function find(channel: string, name: string): Promise<ChannelListing | undefined> {
    const all = await ports.channels();
    const found = all.find((each) => each.channel === channel && each.name === name);
    return found && ports.adapterOf(found.channel, name)?.beginPairing ? found : undefined;
  }

  routes.get("/pair/:channel/:name", pageHeaders, access.page, async (c) => {
    const account = await find(c.req.param("channel"), c.req.param("name"));
    return account ? c.html(await pageFile("pair.html")) : c.notFound();
  });
  routes.get("/pair/:channel/:name/qr.svg", pageHeaders, access.required, async (c) => {
    const { qr } = (await find(c.req.param("channel"), c.req.param("name"))) ?? {};
    if (qr === undefined) return c.notFound();
    // Whoever scans it has the account: it stays in no cache.
    const headers = { "content-type": "image/svg+xml", "cache-control": "no-store" };
    return c.body(await drawQr(qr, { type: "svg", margin: 2 }), 200, headers);
  });
  routes.post("/v1/channels/:channel/:name/pair", bodyLimit({ maxSize: 4096 }), async (c) => {
    const account = await find(c.req.param("channel"), c.req.param("name"));
    if (!account) return c.notFound();
    const text = await c.req.text();
    const parsed = body.safeParse(text === "" ? {} : json(text));
    if (!parsed.success) {
      return c.json({ error: { code: "bad_request", message: z.prettifyError(parsed.error) } }, 400);
    }
    const { code } = await ports.pairing.pair(account.channel, account.name, parsed.data.phone);
    return c.json(code === undefined ? {} : { pairing_code: code });
  });
  return routes;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
