import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { OutboundMessage } from "../../../src/channels/index.js";
import type { Contact, Group } from "../../fakes/whatsapp-web/index.js";
import { createWhatsappRig, until, type WhatsappProcess, type WhatsappRig } from "../../fixtures/whatsapp.js";

describe("in a group", () => {
  let rig: WhatsappRig;
  let process: WhatsappProcess;
  let ana: Contact;
  let beto: Contact;
  let group: Group;

  beforeAll(async () => {
    rig = await createWhatsappRig();
    process = await rig.opened({ groups: "mentioned" });
  });
  afterAll(() => rig.close());
  beforeEach(() => {
    [ana, beto] = [rig.web.contact("Ana"), rig.web.contact("Beto")];
    group = rig.web.group([ana, beto]);
    process.host.received.length = 0;
    process.host.counts.length = 0;
    process.host.receipts.length = 0;
  });

  const texts = () => process.host.received.map(({ text }) => text);
  const answer = (more: Partial<OutboundMessage> = {}): OutboundMessage => ({
    chat: group.jid,
    sender: ana.pn,
    group: true,
    text: "hola",
    ...more,
  });

  it("it hears what it is mentioned in or answered by, and counts the rest", async () => {
    await ana.writes("nobody in particular", { group });
    const mentionedJid = [rig.web.owner.lid];
    await ana.writes({ extendedTextMessage: { text: "@bot hola", contextInfo: { mentionedJid } } }, { group });
    const byNumber = { mentionedJid: [rig.web.owner.pn] };
    await beto.writes({ extendedTextMessage: { text: "@bot hey", contextInfo: byNumber } }, { group });
    const ours = { stanzaId: "3EB0OURS", participant: rig.web.owner.lid, quotedMessage: { conversation: "…" } };
    await beto.writes({ extendedTextMessage: { text: "si", contextInfo: ours } }, { group });
    const others = { stanzaId: "3ATHEIRS", participant: ana.lid, quotedMessage: { conversation: "…" } };
    await beto.writes({ extendedTextMessage: { text: "not you", contextInfo: others } }, { group });
    await ana.writes({ extendedTextMessage: { text: "last", contextInfo: { mentionedJid } } }, { group });
    await until(() => texts().includes("last"));
    expect(texts()).toEqual(["@bot hola", "@bot hey", "si", "last"]);
    expect(process.host.received[2]).toMatchObject({
      chat: group.jid,
      sender: beto.pn,
      group: true,
      quotes: "3EB0OURS",
      provenance: "typed",
    });
    expect(process.host.counts.filter((event) => event === "group_message")).toHaveLength(2);
  });

  it("a person has another session than in their own chat", async () => {
    await ana.writes("alone");
    const contextInfo = { mentionedJid: [rig.web.owner.lid] };
    await ana.writes({ extendedTextMessage: { text: "together", contextInfo } }, { group });
    await until(() => process.host.received.length === 2);
    const sessions = Object.fromEntries(process.host.received.map(({ text, chat, sender }) => [text, [chat, sender]]));
    expect(sessions).toEqual({ alone: [ana.pn, ana.pn], together: [group.jid, ana.pn] });
  });

  it("everybody reads what it says, and only the receipt of whom it speaks to counts", async () => {
    const mentionedJid = [rig.web.owner.lid];
    await ana.writes({ extendedTextMessage: { text: "hola", contextInfo: { mentionedJid } } }, { group });
    await until(() => texts().length === 1);
    rig.web.faults.noDelivery = true;
    const id = process.adapter.newId();
    const result = await process.adapter.send(answer({ id, replyTo: "3AASKED" }));
    expect(result).toMatchObject({ status: "accepted", ref: id });
    const sent = rig.web.sent.at(-1);
    expect(sent).toMatchObject({ to: group.jid, text: "hola", quotes: "3AASKED" });
    expect(sent?.readBy).toEqual(expect.arrayContaining([ana.lid, beto.lid]));

    rig.web.receipt({ id, to: group.jid }, { participant: beto.lid });
    rig.web.receipt({ id, to: group.jid }, { participant: beto.lid, type: "read" });
    await until(() => process.host.counts.filter((event) => event === "receipt_of_another_member").length === 2);
    expect(process.host.receipts).toEqual([]);
    rig.web.receipt({ id, to: group.jid }, { participant: ana.lid });
    rig.web.receipt({ id, to: group.jid }, { participant: ana.lid, type: "read" });
    await until(() => process.host.receipts.length === 2);
    expect(process.host.receipts.map(({ ref, level }) => [ref, level])).toEqual([
      [id, "delivered"],
      [id, "read"],
    ]);
    rig.web.faults.noDelivery = false;
  });

  it("its members get the key with the next message, where the first may not have arrived", async () => {
    rig.web.faults.fates.push({ kind: "lost" });
    expect(await process.adapter.send(answer())).toMatchObject({ status: "unknown" });
    expect(await process.adapter.send(answer())).toMatchObject({ status: "accepted" });
    expect(rig.web.sent.at(-1)?.readBy).toEqual(expect.arrayContaining([ana.lid, beto.lid]));
  });

  it("that it has been removed from, nothing is sent", async () => {
    rig.web.leaveGroup(group);
    expect(await process.adapter.send(answer())).toMatchObject({ status: "failed", code: "not_in_group" });
  });

  it("it can be told to say nothing at all", async () => {
    const deaf = await createWhatsappRig();
    const other = deaf.web.contact("Ana");
    const { host } = await deaf.opened({ groups: "never" });
    const contextInfo = { mentionedJid: [deaf.web.owner.lid] };
    await other.writes({ extendedTextMessage: { text: "hola", contextInfo } }, { group: deaf.web.group([other]) });
    await other.writes("alone");
    await until(() => host.received.length > 0);
    expect(host.received.map(({ text }) => text)).toEqual(["alone"]);
    await deaf.close();
  });
});
