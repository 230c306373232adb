import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeWhatsappWeb, startFakeWhatsappWeb } from "../fakes/whatsapp-web/index.js";
import { cobranzasAgent, praxisConnections, praxisManifest, storyModel } from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";
import { type RedisServer, startRedisServer } from "../fixtures/redis-server.js";

const rounds = 25;
const linesOfARound = 4;

let redis: RedisServer;
let backend: FakeBackend;
let model: FakeOpenAi;
let web: FakeWhatsappWeb;
let place: Installation;
let front: Gateway;
let owner: Gateway;

beforeAll(async () => {
  [redis, backend, model, web] = await Promise.all([
    startRedisServer(),
    startBackend(),
    startFakeOpenAi({ script: storyModel }),
    startFakeWhatsappWeb(),
  ]);
  const settings = { name: "shop", agent: "cobranzas", socket_url: web.url, pacing: "off" };
  place = await install({
    config: { redis: { url: redis.url }, channels: { whatsapp: [settings] } },
    agents: { cobranzas: cobranzasAgent(model.url) },
    integrations: { praxis: praxisManifest },
    connections: praxisConnections(backend.url),
  });
  front = await place.start({ roles: "worker,http" });
  owner = await startOwner();
  web.scan(await eventually(async () => (await account())?.qr));
  await eventually(async () => (await account())?.state === "open");
}, 60_000);
afterAll(async () => {
  await Promise.all([owner.stop(), front.stop()]);
  await Promise.all([backend.close(), model.stop(), web.close()]);
  await redis.remove();
  await place.remove();
}, 60_000);

const startOwner = () => place.start({ roles: "ingress,sender", waitReady: false });

async function account(): Promise<Record<string, string> | undefined> {
  const response = await fetch(`${place.url}/v1/channels`, { headers: { authorization: `Bearer ${place.token}` } });
  return ((await response.json()) as { items: Record<string, string>[] }).items[0];
}

it("hears every line once and in order, and sends nothing unreadable, though who holds the account is killed again and again", async () => {
  const beto = web.contact("Beto");
  const texts: string[] = [];
  const heard = () => model.requests.map(({ user }) => user).filter((user, n, all) => all.indexOf(user) === n);
  const logins = () => web.logins.length;
  let clock = Math.floor(Date.now() / 1000) - 2 * rounds * linesOfARound;
  /** Nobody types two lines within a second, by WhatsApp's clock: it knows no order within one. */
  async function write(text: string) {
    texts.push(text);
    await beto.writes(text, { at: ++clock });
    if (Math.random() < 0.3) await sleep(Math.random() * 30);
  }

  await write("hello");
  await eventually(() => heard().length === 1);
  for (let round = 0; round < rounds; round++) {
    const before = logins();
    for (let n = 0; n < linesOfARound; n++) await write(`line ${round}.${n}`);
    // Now while it reads, now while it answers, now when it is done.
    await sleep(Math.random() < 0.5 ? Math.random() * 40 : Math.random() * 500);
    const [next] = await Promise.all([startOwner(), owner.kill()]);
    owner = next;
    await eventually(() => logins() > before, 60_000);
    await eventually(() => heard().length === texts.length, 60_000);
    expect(heard()).toEqual(texts);
    expect(web.failures).toEqual([]);
  }
});
