import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { InboundMessage } from "../../../src/channels/index.js";
import type { Contact } from "../../fakes/whatsapp-web/index.js";
import { createWhatsappRig, until, type WhatsappProcess, type WhatsappRig } from "../../fixtures/whatsapp.js";

/** WhatsApp names a person by their number or by their LID, message by message. */
describe("one person is one session", () => {
  let rig: WhatsappRig;
  let process: WhatsappProcess;
  let ana: Contact;

  beforeAll(async () => {
    rig = await createWhatsappRig();
    process = await rig.opened();
  });
  afterAll(() => rig.close());
  beforeEach(() => {
    ana = rig.web.contact("Ana");
    process.host.received.length = 0;
  });

  async function next(): Promise<InboundMessage> {
    const before = process.host.received.length;
    await until(
      () => process.host.received.length > before,
      () => process.host.counts,
    );
    const last = process.host.received.at(-1);
    if (!last) throw new Error("nothing came in");
    return last;
  }
  const writes = async (...given: Parameters<Contact["writes"]>) => {
    const coming = next();
    await ana.writes(...given);
    const { chat, sender } = await coming;
    expect(chat).toBe(sender);
    return sender;
  };

  it("whichever address their messages come from, once it is said that both are theirs", async () => {
    expect(await writes("by number")).toBe(ana.pn);
    expect(await writes("by LID", { as: "lid" })).toBe(ana.pn);
    expect(await writes("by LID alone", { as: "lid", alt: false })).toBe(ana.pn);
    expect(await writes("by number alone", { alt: false })).toBe(ana.pn);
  });

  it("under the LID, where that was all that was known at first", async () => {
    expect(await writes("by LID alone", { as: "lid", alt: false })).toBe(ana.lid);
    expect(await writes("by number too", { alt: true })).toBe(ana.lid);
    expect(await writes("by number alone", { alt: false })).toBe(ana.lid);
  });

  it("in another process too", async () => {
    expect(await writes("by LID alone", { as: "lid", alt: false })).toBe(ana.lid);
    expect(await writes("both", { as: "lid" })).toBe(ana.lid);
    await process.adapter.stop();
    process = rig.process();
    await process.adapter.start();
    await until(() => process.adapter.status().state === "open");
    expect(await writes("by number alone", { alt: false })).toBe(ana.lid);
  });

  it("and answers go where they wrote from", async () => {
    await writes("by number");
    await writes("by LID", { as: "lid" });
    const sent = rig.web.sent.length;
    const answer = { chat: ana.pn, sender: ana.pn, group: false, text: "hola" };
    expect((await process.adapter.send(answer)).status).toBe("accepted");
    expect(rig.web.sent[sent]).toMatchObject({ to: ana.lid, text: "hola" });
  });

  it("and somebody who shows the same name is somebody else", async () => {
    const other = rig.web.contact("Ana");
    const first = await writes("it is me");
    const coming = next();
    await other.writes("no, me");
    expect((await coming).sender).not.toBe(first);
  });

  it("and so is whoever was given their number", async () => {
    await writes("by number");
    const heir = rig.web.contact("Heir");
    const coming = next();
    rig.web.plain(ana.pn, "my new number", { sender_lid: heir.lid });
    expect((await coming).sender).toBe(heir.lid);
    expect(process.host.counts).toContain("number_reassigned");
    // The one who had it before goes on under their name, and is reached by their LID.
    expect(await writes("it is still me", { as: "lid", alt: false })).toBe(ana.pn);
    const sent = rig.web.sent.length;
    await process.adapter.send({ chat: ana.pn, sender: ana.pn, group: false, text: "hola" });
    expect(rig.web.sent[sent]?.to).toBe(ana.lid);
  });
});
