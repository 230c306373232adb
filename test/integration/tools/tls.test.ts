import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttps, type Server } from "node:https";
import { type AddressInfo, createServer as createTcp, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNetwork, type Network, type ToolResult } from "../../../src/agents/tools/index.js";
import { action, actionTool, apiTool, callContext, firstOf, toolsOf } from "../../fixtures/tools.js";

/** Self-signed, for tenant.example and 127.0.0.1; made for these tests and trusted nowhere else. */
const cert = readFileSync(new URL("../../fixtures/tls/cert.pem", import.meta.url), "utf8");
const key = readFileSync(new URL("../../fixtures/tls/key.pem", import.meta.url), "utf8");
const egress = { allow: ["127.0.0.0/8"], resolve: async () => [{ address: "127.0.0.1", family: 4 }] };

let server: Server;
let port = 0;
let hang = false;
const heads: { host: string | undefined; sni: string | false | null | undefined }[] = [];
const networks: Network[] = [];
beforeEach(async () => {
  heads.length = 0;
  hang = false;
  server = createHttps({ cert, key }, (request, response) => {
    heads.push({ host: request.headers.host, sni: (request.socket as TLSSocket & { servername?: string }).servername });
    if (!hang) response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  for (const network of networks.splice(0)) await network.close();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

function network(options: Parameters<typeof createNetwork>[0]): Network {
  const made = createNetwork(options);
  networks.push(made);
  return made;
}

async function read(host: string, ca?: string): Promise<ToolResult> {
  const own = network({ egress, ...(ca !== undefined && { ca }) });
  return await firstOf(toolsOf(apiTool(), { network: own, baseUrl: `https://${host}:${port}` })).call(
    {},
    callContext(),
  );
}

async function write(baseUrl: string, ca?: string): Promise<ToolResult> {
  const own = network({ egress, ...(ca !== undefined && { ca }) });
  return await actionTool(action({ timeoutMs: 300 }), { network: own, baseUrl }).call({ entidad: "x" }, callContext());
}

describe("a call over TLS", () => {
  it("goes to the pinned address under the server's own name, in the handshake and in the request", async () => {
    expect(await read("tenant.example", cert)).toEqual({ ok: true, content: "{}" });
    expect(heads).toEqual([{ host: `tenant.example:${port}`, sni: "tenant.example" }]);
  });

  it("sends nothing to a server whose certificate nobody vouches for, or that is another's", async () => {
    expect(await read("tenant.example")).toMatchObject({ ok: false, code: "unreachable", uncertain: false });
    expect(await read("other.example", cert)).toMatchObject({ ok: false, code: "unreachable", uncertain: false });
    expect(await write(`https://127.0.0.1:${port}`)).toMatchObject({
      ok: false,
      code: "unreachable",
      uncertain: false,
    });
    expect(heads).toEqual([]);
  });

  it("is uncertain when the server took the request and never answers", async () => {
    hang = true;
    expect(await write(`https://127.0.0.1:${port}`, cert)).toMatchObject({ code: "timeout", uncertain: true });
    expect(heads).toHaveLength(1);
  });
});

describe("a server that accepts a connection and says nothing", () => {
  it("cannot have done what it was never told, which only TLS makes certain", async () => {
    const sockets: Socket[] = [];
    const silent = createTcp((socket) => sockets.push(socket.on("error", () => {})));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const at = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    expect(await write(`https://${at}`)).toMatchObject({ code: "timeout", uncertain: false });
    expect(await write(`http://${at}`)).toMatchObject({ code: "timeout", uncertain: true });
    for (const socket of sockets) socket.destroy();
    silent.close();
    await once(silent, "close");
  });
});
