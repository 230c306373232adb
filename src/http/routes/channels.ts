import { type Context, Hono } from "hono";
import type { ChannelKind } from "../../channels/index.js";
import type { HttpPorts } from "../ports.js";

/** Where adapters' own pages and webhooks are mounted. They bring their own proof of who is calling. */
const mounts: readonly { readonly at: string; readonly channel: ChannelKind }[] = [
  { at: "/webhooks/telegram", channel: "telegram" },
  { at: "/webhooks/whatsapp-cloud", channel: "whatsapp_cloud" },
  { at: "/chat", channel: "webchat" },
];

export function channelRoutes(ports: Pick<HttpPorts, "adapterOf">): Hono {
  const routes = new Hono();
  for (const { at, channel } of mounts) {
    const handle = async (c: Context) => {
      const name = c.req.param("name") ?? "";
      const adapter = ports.adapterOf(channel, name);
      if (!adapter?.handle) return c.notFound();
      const path = new URL(c.req.url).pathname.slice(`${at}/${name}`.length) || "/";
      return adapter.handle(c.req.raw, path);
    };
    routes.all(`${at}/:name`, handle);
    routes.all(`${at}/:name/*`, handle);
  }
  return routes;
}
