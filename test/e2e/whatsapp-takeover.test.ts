import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeWhatsappWeb } from "../fakes/whatsapp-web/index.js";
import { storyPlan, storyQuestion } from "../fixtures/cobranzas.js";
import { eventually, type Gateway } from "../fixtures/gateway.js";
import { startWhatsappSite, type WhatsappSite } from "../fixtures/whatsapp-site.js";

/** Three processes on one Redis: a front that runs turns, and two that may hold the WhatsApp account. */
describe("the process that holds a WhatsApp account is killed", () => {
  let site: WhatsappSite;
  let web: FakeWhatsappWeb;
  let owner: Gateway;
  let standby: Gateway;
  const key = Buffer.alloc(32, 5).toString("base64");

  beforeAll(async () => {
    site = await startWhatsappSite({ encryption_keys: [key] });
    web = site.web;
    owner = await site.startHolder();
    const qr = await eventually(async () => (await site.account())?.qr);
    standby = await site.startHolder();
    web.scan(qr);
    await eventually(async () => (await site.account())?.state === "open");
  });
  afterAll(async () => {
    await standby.stop();
    await site.close();
  });

  const textsTo = (person: { readonly pn: string }) =>
    web.sent.filter(({ to }) => to === person.pn).map(({ text }) => text);

  it("and the other one takes over: the yes to what the first had shown runs once", async () => {
    const ana = web.contact("Ana");
    await ana.writes(storyQuestion);
    const session = encodeURIComponent(`whatsapp:shop:${ana.pn}:${ana.pn}`);
    await eventually(async () =>
      (await site.items(`/v1/evidence?session=${session}`)).some(({ type }) => type === "notice_delivered"),
    );
    expect(web.logins).toEqual(["register", "login"]);

    await owner.kill();
    await ana.writes("dale");
    const done = "Done — plan recorded, 3 instalments of $61,333.";
    await eventually(() => textsTo(ana).includes(done));
    expect(textsTo(ana)).toHaveLength(2);
    expect(site.backend.writes.map(({ body }) => JSON.parse(body))).toEqual([storyPlan]);
    // One login more: nobody threw anybody out.
    expect(web.logins).toEqual(["register", "login", "login"]);
  });

  it("and what it had taken and not handed on is not lost, however often that happens", async () => {
    const beto = web.contact("Beto");
    const texts = Array.from({ length: 12 }, (_, n) => `line ${n}`);
    const heard = () => [
      ...new Set(site.model.requests.map(({ user }) => user).filter((user) => texts.includes(user))),
    ];
    const at = Math.floor(Date.now() / 1000) - texts.length;
    for (const [n, text] of texts.entries()) {
      await beto.writes(text, { at: at + n });
      // The first two messages of a new contact may be swapped by Baileys itself, while it opens the session.
      if (n === 0) await eventually(() => heard().length === 1);
      if (n % 4 !== 3) continue;
      const next = await site.startHolder();
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
    for (const gateway of [owner, standby, site.front]) {
      for (const secret of ["privKey", "Closing session", key, "line 3", "@s.whatsapp.net"]) {
        expect(gateway.output()).not.toContain(secret);
      }
    }
  });
});
