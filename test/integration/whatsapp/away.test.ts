import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Contact } from "../../fakes/whatsapp-web/index.js";
import { createWhatsappRig, until, type WhatsappRig } from "../../fixtures/whatsapp.js";

/** What was typed while no process was there, and what happens to it before it is handed on. */
describe("while we were away", () => {
  let rig: WhatsappRig;
  let ana: Contact;
  let beto: Contact;

  beforeEach(async () => {
    rig = await createWhatsappRig();
    [ana, beto] = [rig.web.contact("Ana"), rig.web.contact("Beto")];
    const { adapter } = await rig.opened();
    await adapter.stop();
  });
  afterEach(() => rig.close());

  /** Comes back, and tells what was handed on until a last message was. */
  async function back() {
    const last = rig.web.contact("Last");
    await last.writes("last");
    const { adapter, host } = rig.process();
    await adapter.start();
    await until(
      () => host.received.some(({ text }) => text === "last"),
      () => [host.counts, host.logs, host.received],
    );
    const received = host.received.filter(({ text }) => text !== "last");
    return { host, adapter, received, texts: received.map(({ text, provenance }) => [text, provenance]) };
  }

  it("a message that is typed meanwhile does not overtake those that waited", async () => {
    const now = Math.floor(Date.now() / 1000);
    rig.web.faults.noOfflineEnd = true;
    for (let n = 0; n < 15; n++) await ana.writes(`waited ${n}`, { at: now - 20 + n });
    const { adapter, host } = rig.process();
    const began = rig.web.next("login");
    await adapter.start();
    await began;
    await until(() => adapter.status().state === "open");
    await ana.writes("dale", { at: now });
    await ana.writes("that was all", { at: now });
    await until(
      () => host.received.length === 17,
      () => host.received.length,
    );
    expect(host.received.map(({ text }) => text)).toEqual([
      ...Array.from({ length: 15 }, (_, n) => `waited ${n}`),
      "dale",
      "that was all",
    ]);
  });

  it("nothing is lost, and everything says when it was typed", async () => {
    const at = Math.floor(Date.now() / 1000) - 3_600;
    for (let n = 0; n < 25; n++) await ana.writes(`message ${n}`, { at: at + n });
    const { received } = await back();
    expect(received.map(({ text }) => text)).toEqual(Array.from({ length: 25 }, (_, n) => `message ${n}`));
    expect(received.map(({ sentAt }) => sentAt)).toEqual(Array.from({ length: 25 }, (_, n) => (at + n) * 1000));
    expect(received.every(({ provenance }) => provenance === "typed")).toBe(true);
  });

  it("an edit makes no yes of a no, and no typed text of what was changed", async () => {
    const id = await ana.writes("no");
    const key = { remoteJid: ana.pn, fromMe: true, id };
    await ana.writes({ protocolMessage: { type: 14, key, editedMessage: { conversation: "si" } } });
    const { texts, host } = await back();
    expect(texts).toEqual([["no", "other"]]);
    expect(host.counts).toContain("edited_message");
  });

  it("an edit that nobody can read takes its consent from a yes", async () => {
    const id = await ana.writes("si");
    const targetMessageKey = { remoteJid: ana.pn, fromMe: true, id };
    const sealed = { targetMessageKey, encPayload: new Uint8Array(8), encIv: new Uint8Array(12), secretEncType: 2 };
    await ana.writes({ secretEncryptedMessage: sealed });
    expect((await back()).texts).toEqual([["si", "other"]]);
  });

  it("what was deleted again was never said", async () => {
    const id = await ana.writes("si");
    await ana.writes("how much do I owe?");
    await ana.writes({ protocolMessage: { type: 0, key: { remoteJid: ana.pn, fromMe: true, id } } });
    const { texts, host } = await back();
    expect(texts).toEqual([["how much do I owe?", "typed"]]);
    expect(host.counts.filter((event) => event === "revoked_message")).toHaveLength(2);
  });

  it("nobody edits or deletes another person's message", async () => {
    const group = rig.web.group([ana, beto]);
    const id = await ana.writes("no", { group });
    const key = { remoteJid: group.jid, fromMe: false, id, participant: ana.lid };
    await beto.writes({ protocolMessage: { type: 14, key, editedMessage: { conversation: "si" } } }, { group });
    await beto.writes({ protocolMessage: { type: 0, key } }, { group });
    const { texts, received } = await back();
    expect(texts).toEqual([["no", "typed"]]);
    expect(received[0]?.sender).toBe(ana.pn);
  });

  it("two members of a group who use one id are told apart", async () => {
    const group = rig.web.group([ana, beto]);
    await ana.writes("from Ana", { group, id: "3ASAMEID" });
    await beto.writes("from Beto", { group, id: "3ASAMEID" });
    const { received } = await back();
    expect(received.map(({ text, sender }) => [text, sender])).toEqual([
      ["from Ana", ana.pn],
      ["from Beto", beto.pn],
    ]);
  });

  it("is handed on also when WhatsApp never says that this was all", async () => {
    rig.web.faults.noOfflineEnd = true;
    await ana.writes("are you there?");
    expect((await back()).texts).toEqual([["are you there?", "typed"]]);
  });

  it("is kept when the connection is lost before WhatsApp says that this was all", async () => {
    rig.web.faults.noOfflineEnd = true;
    for (let n = 0; n < 20; n++) await ana.writes(`message ${n}`);
    const { adapter, host } = rig.process();
    await adapter.start();
    await until(() => rig.web.seen.filter(({ tag, attrs }) => tag === "receipt" && attrs.id).length >= 20);
    rig.web.cut();
    await until(
      () => host.received.length === 20,
      () => host.received.length,
    );
    expect(host.received.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, n) => `message ${n}`));
  });

  it("history that WhatsApp offers is left where it is", async () => {
    const { host, adapter } = await back();
    const historySyncNotification = { syncType: 3, directPath: "/v/history.enc", mediaKey: new Uint8Array(32) };
    const content = {
      deviceSentMessage: {
        destinationJid: rig.web.owner.pn,
        message: { protocolMessage: { type: 5, historySyncNotification } },
      },
    };
    await rig.web.ownerWrites(ana, "nothing");
    rig.web.plain(rig.web.owner.pn, content, { recipient: rig.web.owner.pn, category: "peer" });
    await ana.writes("and then");
    await until(() => host.received.some(({ text }) => text === "and then"));
    expect(rig.web.media.fetched).toEqual([]);
    expect(adapter.status().state).toBe("open");
  });
});
