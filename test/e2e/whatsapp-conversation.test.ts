import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeWhatsappWeb, startFakeWhatsappWeb } from "../fakes/whatsapp-web/index.js";
import {
  cobranzasAgent,
  praxisConnections,
  praxisManifest,
  storyModel,
  storyNotice,
  storyPlan,
  storyQuestion,
} from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";

describe("the first conversation, over WhatsApp as a linked device", () => {
  let backend: FakeBackend;
  let model: FakeOpenAi;
  let web: FakeWhatsappWeb;
  let place: Installation;
  let dale: Gateway;

  beforeAll(async () => {
    [backend, model, web] = await Promise.all([
      startBackend(),
      startFakeOpenAi({ script: storyModel }),
      startFakeWhatsappWeb(),
    ]);
    place = await install({
      config: { channels: { whatsapp: [{ name: "shop", agent: "cobranzas", socket_url: web.url, pacing: "off" }] } },
      agents: { cobranzas: cobranzasAgent(model.url) },
      integrations: { praxis: praxisManifest },
      connections: praxisConnections(backend.url),
    });
    dale = await place.start();
  });
  afterAll(async () => {
    expect(await dale.stop()).toBe(0);
    await Promise.all([backend.close(), model.stop(), web.close()]);
    await place.remove();
  });
  afterEach(() => {
    const output = dale.output();
    for (const secret of [storyQuestion, "PRIVATE", "privKey", "Closing session"]) expect(output).not.toContain(secret);
  });

  let sent: number;
  let written: number;
  beforeEach(() => {
    sent = web.sent.length;
    written = backend.writes.length;
    web.faults.noDelivery = false;
  });
  const answer = (n = 1) => eventually(() => web.sent[sent + n - 1]);
  const get = async (path: string): Promise<{ items: Record<string, string>[] }> => {
    const response = await fetch(`${place.url}${path}`, { headers: { authorization: `Bearer ${place.token}` } });
    return (await response.json()) as { items: Record<string, string>[] };
  };
  const account = async () => (await get("/v1/channels")).items[0];
  const evidence = async (session: string) =>
    (await get(`/v1/evidence?session=${encodeURIComponent(session)}`)).items.map(({ type }) => type);

  it("is linked by the code that the account shows", async () => {
    const qr = await eventually(async () => (await account())?.qr);
    expect(await account()).toMatchObject({ channel: "whatsapp", name: "shop", state: "unpaired" });
    web.scan(qr);
    await eventually(async () => (await account())?.state === "open");
    expect((await account())?.qr).toBeUndefined();
  });

  it("runs the call after the person's yes, exactly as it was shown", async () => {
    const ana = web.contact("Ana");
    await ana.writes(storyQuestion);
    const shown = await answer();
    expect(shown.to).toBe(ana.pn);
    expect(shown.text).toBe(`Customer 42 owes $184,000.\n\n${storyNotice}`);
    expect(backend.writes.length).toBe(written);

    await ana.writes("dale");
    expect((await answer(2)).text).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(backend.writes.slice(written).map(({ body }) => JSON.parse(body))).toEqual([storyPlan]);
    const session = `whatsapp:shop:${ana.pn}:${ana.pn}`;
    const types = await eventually(async () => {
      const seen = await evidence(session);
      return seen.includes("executed") ? seen : undefined;
    });
    expect(types).toEqual(["proposed", "notice_sent", "notice_delivered", "granted", "consumed", "executed"]);
  });

  it("shows that it has read what the person wrote, and that it types", async () => {
    const ana = web.contact("Ana");
    const id = await ana.writes("hola");
    await answer();
    const seen = (tag: string, attrs: Record<string, string>) =>
      web.seen.some(
        (node) => node.tag === tag && Object.entries(attrs).every(([name, value]) => node.attrs[name] === value),
      );
    await eventually(() => seen("receipt", { type: "read", id, to: ana.pn }));
    expect(seen("chatstate", { to: ana.pn })).toBe(true);
  });

  it("finishes what it is sending before it stops", async () => {
    const ana = web.contact("Ana");
    web.faults.ackDelay = 1_000;
    await ana.writes("hola");
    await answer();
    expect(await dale.stop()).toBe(0);
    web.faults.ackDelay = 0;
    dale = await place.start();
    const session = encodeURIComponent(`whatsapp:shop:${ana.pn}:${ana.pn}`);
    const { items } = await get(`/v1/deliveries?session=${session}`);
    expect(items.map(({ state }) => state)).toEqual([expect.stringMatching(/^(accepted|delivered)$/)]);
  });

  it("waits for the receipt of a notice that the yes has overtaken", async () => {
    const ana = web.contact("Ana");
    web.faults.noDelivery = true;
    await ana.writes(storyQuestion);
    const shown = await answer();
    const session = `whatsapp:shop:${ana.pn}:${ana.pn}`;
    await eventually(async () => (await evidence(session)).includes("notice_sent"));
    const arrived = Math.floor(Date.now() / 1000);
    await ana.writes("dale");
    setTimeout(() => web.receipt(shown, { at: arrived }), 1_000);
    expect((await answer(2)).text).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(backend.writes.length).toBe(written + 1);
  });

  it("runs nothing while the notice has not arrived, and shows it again", async () => {
    const ana = web.contact("Ana");
    web.faults.noDelivery = true;
    await ana.writes(storyQuestion);
    await answer();
    await ana.writes("dale");
    expect((await answer(2)).text).toBe(storyNotice);
    expect(backend.writes.length).toBe(written);
    expect(await evidence(`whatsapp:shop:${ana.pn}:${ana.pn}`)).toContain("unseen");
  });

  it("runs nothing of a yes that was deleted before the notice was known to have arrived", async () => {
    const ana = web.contact("Ana");
    web.faults.noDelivery = true;
    await ana.writes(storyQuestion);
    const shown = await answer();
    const session = `whatsapp:shop:${ana.pn}:${ana.pn}`;
    await eventually(async () => (await evidence(session)).includes("notice_sent"));
    const arrived = Math.floor(Date.now() / 1000);
    const id = await ana.writes("dale");
    await ana.writes({ protocolMessage: { type: 0, key: { remoteJid: ana.pn, fromMe: true, id } } });
    await eventually(() => web.seen.filter(({ tag, attrs }) => tag === "receipt" && attrs.to === ana.pn).length >= 3);
    setTimeout(() => web.receipt(shown, { at: arrived }), 1_000);
    await answer(2);
    expect(await evidence(session)).toContain("discarded");
    expect(backend.writes.length).toBe(written);
  });

  it("takes no yes for an answer to the notice when the account's owner has written since, on the phone", async () => {
    const ana = web.contact("Ana");
    await ana.writes(storyQuestion);
    await answer();
    const session = `whatsapp:shop:${ana.pn}:${ana.pn}`;
    await eventually(async () => (await evidence(session)).includes("notice_delivered"));
    await web.ownerWrites(ana, "¿Almorzamos?");
    await ana.writes("dale");
    expect((await answer(2)).text).toBe(storyNotice);
    expect(backend.writes.length).toBe(written);
    await ana.writes("dale");
    expect((await answer(3)).text).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(backend.writes.length).toBe(written + 1);
  });

  it("is one conversation, whichever address the person's messages come from", async () => {
    const ana = web.contact("Ana");
    await ana.writes(storyQuestion);
    await answer();
    await ana.writes("dale", { as: "lid" });
    expect((await answer(2)).text).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(backend.writes.length).toBe(written + 1);
  });

  it("goes on with a yes that came while Dale was down", async () => {
    const ana = web.contact("Ana");
    await ana.writes(storyQuestion);
    await answer();
    await eventually(async () => (await evidence(`whatsapp:shop:${ana.pn}:${ana.pn}`)).includes("notice_delivered"));
    expect(await dale.stop()).toBe(0);
    await ana.writes("dale");
    dale = await place.start();
    expect((await answer(2)).text).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(backend.writes.length).toBe(written + 1);
    expect(web.logins.filter((kind) => kind === "register")).toHaveLength(1);
  });

  it("discards the call when the person says anything else", async () => {
    const ana = web.contact("Ana");
    await ana.writes(storyQuestion);
    await answer();
    await ana.writes("bueno dale pero cambiame la cantidad");
    await answer(2);
    await ana.writes("dale");
    await answer(3);
    expect(backend.writes.length).toBe(written);
    expect(await evidence(`whatsapp:shop:${ana.pn}:${ana.pn}`)).toContain("discarded");
  });
});
