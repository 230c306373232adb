import type { AddressInfo } from "node:net";
import { type ServerType, serve } from "@hono/node-server";
import type { HttpApp } from "./app.js";

export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** Stops accepting, lets requests that are being served finish (at most `graceMs`), then closes. */
  close(graceMs: number): Promise<void>;
}

/** @param port 0 for a free one */
export function listen(app: HttpApp, host: string, port: number): Promise<HttpServer> {
  return new Promise((resolve, reject) => {
    const server: ServerType = serve({ fetch: app.fetch, hostname: host, port }, (info: AddressInfo) => {
      server.off("error", reject);
      resolve({ host, port: info.port, close: (graceMs) => close(server, graceMs) });
    });
    server.once("error", reject);
  });
}

function close(server: ServerType, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      if ("closeAllConnections" in server) server.closeAllConnections();
    }, graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    if ("closeIdleConnections" in server) server.closeIdleConnections();
  });
}
