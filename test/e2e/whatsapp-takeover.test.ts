import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeWhatsappWeb, startFakeWhatsappWeb } from "../fakes/whatsapp-web/index.js";
import {
  cobranzasAgent,
  praxisConnections,
  praxisManifest,
  storyModel,
  storyPlan,
  storyQuestion,
} from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";
import { type RedisServer, startRedisServer } from "../fixtures/redis-server.js";

/** Three processes on one Redis: a front that runs turns, and two that may hold the WhatsApp account. */
describe("the process that holds a WhatsApp account is killed", () => {
  let redis: RedisServer;
  let backend: FakeBackend;
  let model: FakeOpenAi;
  let web: FakeWhatsappWeb;
  let place: Installation;
  let front: Gateway;
  let owner: Gateway;
  let standby: Gateway;
  const key = Buffer.alloc(32, 5).toString("base64");

  beforeAll(async () => {
    [redis, backend, model, web] = await Promise.all([
      startRedisServer(),
      startBackend(),
      startFakeOpenAi({ script: storyModel }),
      startFakeWhatsappWeb(),
    ]);
    const settings = { name: "shop", agent: "cobranzas", socket_url: web.url, pacing: "off", encryption_keys: [key] };
    place = await install({
      config: { redis: { url: redis.url }, channels: { whatsapp: [settings] } },
      agents: { cobranzas: cobranzasAgent(model.url) },
      integrations: { praxis: praxisManifest },
      connections: praxisConnections(backend.url),
    });
    front = await place.start({ roles: "worker,http" });
    owner = await place.start({ roles: "ingress,sender", waitReady: false });
    const qr = await eventually(async () => (await account())?.qr);
    standby = await place.start({ roles: "ingress,sender", waitReady: false });
    web.scan(qr);
    await eventually(async () => (await account())?.state === "open");
  });
  afterAll(async () => {
    await Promise.all([standby.stop(), front.stop()]);
    await Promise.all([backend.close(), model.stop(), web.close()]);
    await redis.remove();
    await place.remove();
  });

  const get = async (path: string): Promise<Record<string, string>[]> => {
    const response = await fetch(`${place.url}${path}`, { headers: { authorization: `Bearer ${place.token}` } });
    return ((await response.json()) as { items: Record<string, string>[] }).items;
  };
  const account = async () => (await get("/v1/channels"))[0];
  const textsTo = (person: { readonly pn: string }) =>
    web.sent.filter(({ to }) => to === person.pn).map(({ text }) => text);

  it("and the other one takes over: the yes to what the first had shown runs once", async () => {
    const ana = web.contact("Ana");
    await ana.writes(storyQuestion);
    const session = encodeURIComponent(`whatsapp:shop:${ana.pn}:${ana.pn}`);
    await eventually(async () =>
      (await get(`/v1/evidence?session=${session}`)).some(({ type }) => type === "notice_delivered"),
    );
    expect(web.logins).toEqual(["register", "login"]);

    await owner.kill();
    await ana.writes("dale");
    const done = "Done — plan recorded, 3 instalments of $61,333.";
    await eventually(() => textsTo(ana).includes(done));
    expect(textsTo(ana)).toHaveLength(2);
    expect(backend.writes.map(({ body }) => JSON.parse(body))).toEqual([storyPlan]);
    // One login more: nobody threw anybody out.
    expect(web.logins).toEqual(["register", "login", "login"]);
  });

  it("and what it had taken and not handed on is not lost, however often that happens", async () => {
    const beto = web.contact("Beto");
    const texts = Array.from({ length: 12 }, (_, n) => `line ${n}`);
    const heard = () => [...new Set(model.requests.map(({ user }) => user).filter((user) => texts.includes(user)))];
    const at = Math.floor(Date.now() / 1000) - texts.length;
    for (const [n, text] of texts.entries()) {
      await beto.writes(text, { at: at + n });
      // The first two messages of a new contact may be swapped by Baileys itself, while it opens the session.
      if (n === 0) await eventually(() => heard().length === 1);
      if (n % 4 !== 3) continue;
      const next = await place.start({ roles: "ingress,sender", waitReady: false });
      await standby.kill();
      standby = next;
    }
    // What was being sent when its process died is unknown, and not sent again: the agent's side is what nothing is missing from.
    await eventually(() => heard().length === texts.length, 45_000);
    expect(heard()).toEqual(texts);
    // And every answer that left was one that Beto's phone could read.
    expect(web.failures).toEqual([]);
  });

  it("and no process says anything of keys or people", () => {
    for (const gateway of [owner, standby, front]) {
      for (const secret of ["privKey", "Closing session", key, "line 3", "@s.whatsapp.net"]) {
        expect(gateway.output()).not.toContain(secret);
      }
    }
  });
});
