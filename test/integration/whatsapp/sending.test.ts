import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { OutboundMessage } from "../../../src/channels/index.js";
import type { Contact } from "../../fakes/whatsapp-web/index.js";
import { createWhatsappRig, until, type WhatsappProcess, type WhatsappRig } from "../../fixtures/whatsapp.js";

let rig: WhatsappRig;
let process: WhatsappProcess;
let ana: Contact;

beforeAll(async () => {
  rig = await createWhatsappRig();
  process = await rig.opened();
});
afterAll(() => rig.close());
beforeEach(async () => {
  ana = rig.web.contact("Ana");
  process.host.receipts.length = 0;
  process.host.counts.length = 0;
  await until(
    () => process.adapter.status().state === "open",
    () => process.adapter.status(),
  );
});
afterEach(() => {
  Object.assign(rig.web.faults, { noDelivery: false, noUsync: false, deaf: false, ackDelay: 0 });
});

const to = (person: Pick<Contact, "pn">, text: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({
  chat: person.pn,
  sender: person.pn,
  group: false,
  text,
  id: process.adapter.newId(),
  ...more,
});
const copies = (text: string) => rig.web.sent.filter((sent) => sent.text === text).length;
const levels = (ref: string | undefined) =>
  process.host.receipts.filter((receipt) => receipt.ref === ref).map(({ level }) => level);

describe("a message", () => {
  it("is accepted when WhatsApp says that it has it, at WhatsApp's time", async () => {
    rig.web.faults.noDelivery = true;
    const message = to(ana, "hola");
    const result = await process.adapter.send(message);
    expect(result).toMatchObject({ status: "accepted", ref: message.id });
    if (result.status === "accepted") expect(Math.abs((result.sentAt ?? 0) - Date.now())).toBeLessThan(5_000);
    expect(process.host.receipts).toEqual([]);
  });

  it("is accepted when a phone says that it arrived before WhatsApp says that it has it", async () => {
    rig.web.faults.ackDelay = 10_000;
    const message = to(ana, "overtaken");
    rig.web.next("sent").then(() => rig.web.receipt({ id: message.id ?? "", to: ana.pn }));
    expect(await process.adapter.send(message)).toEqual({ status: "accepted", ref: message.id });
    await until(() => levels(message.id).includes("delivered"));
  });

  it("has an id that looks like the web client's own", () => {
    expect(process.adapter.newId()).toMatch(/^3EB0[0-9A-F]{18}$/);
  });

  it("with an address in it is sent as it is: nobody looks at what is behind it", async () => {
    await process.adapter.send(to(ana, `see http://127.0.0.1:1/secret`));
    expect(rig.web.sent.at(-1)?.message).toMatchObject({ conversation: "see http://127.0.0.1:1/secret" });
  });

  it("of 65,536 characters is taken by WhatsApp", async () => {
    const long = "ñ".repeat(65_536);
    expect((await process.adapter.send(to(ana, long))).status).toBe("accepted");
    expect(copies(long)).toBe(1);
  });

  it("can be read again by a phone that could not read it the first time", async () => {
    const message = to(ana, "once more, please");
    await process.adapter.send(message);
    const before = copies(message.text);
    const retry = { tag: "retry", attrs: { count: "1", id: message.id ?? "", t: "1", v: "1" } };
    const attrs = { id: message.id ?? "", from: ana.pn, type: "retry", t: "1" };
    rig.web.stanza({ tag: "receipt", attrs, content: [retry] });
    await until(() => copies(message.text) > before);
    expect(rig.web.sent.at(-1)).toMatchObject({ id: message.id, to: ana.pn });
  });

  it("is given to nobody but the one it was sent to, whoever asks for it", async () => {
    const message = to(ana, "for Ana only");
    await process.adapter.send(message);
    const thief = rig.web.contact("Thief");
    await thief.writes("hola");
    const before = rig.web.sent.length;
    const retry = { tag: "retry", attrs: { count: "1", id: message.id ?? "", t: "1", v: "1" } };
    const attrs = { id: message.id ?? "", from: thief.pn, type: "retry", t: "1" };
    rig.web.stanza({ tag: "receipt", attrs, content: [retry] });
    await process.adapter.send(to(thief, "something else"));
    expect(rig.web.sent.slice(before).map(({ text }) => text)).toEqual(["something else"]);
  });
});

describe("receipts", () => {
  it("come in any order, and of a message once each", async () => {
    rig.web.faults.noDelivery = true;
    const message = to(ana, "in any order");
    await process.adapter.send(message);
    const sent = { id: message.id ?? "", to: ana.pn };
    for (const type of ["read", undefined, "played"]) rig.web.receipt(sent, type ? { type } : {});
    rig.web.receipt({ ...sent, to: ana.lid });
    await until(() => levels(message.id).length === 4);
    expect(levels(message.id)).toEqual(["read", "delivered", "read", "delivered"]);
  });

  it("of messages that are not ours are counted", async () => {
    rig.web.receipt({ id: "3EB0UNKNOWN", to: ana.pn }, { type: "read" });
    await until(() => process.host.counts.includes("receipt_of_unknown_message"));
    expect(process.host.receipts).toEqual([]);
  });

  it("wait while the store is away", async () => {
    rig.web.faults.noDelivery = true;
    const message = to(ana, "patience");
    await process.adapter.send(message);
    process.host.storeAway(true);
    const refused = process.host.refused;
    rig.web.receipt({ id: message.id ?? "", to: ana.pn });
    await until(() => process.host.refused > refused);
    process.host.storeAway(false);
    await until(() => levels(message.id).length === 1);
  });
});

describe("what does not arrive", () => {
  it("is `failed` for a number that is not on WhatsApp", async () => {
    const nobody = { pn: "19998887777@s.whatsapp.net" };
    const result = await process.adapter.send(to(nobody, "to nobody"));
    expect(result).toMatchObject({ status: "failed", code: "not_on_whatsapp" });
    expect(JSON.stringify(result)).not.toContain("19998887777");
    expect(copies("to nobody")).toBe(0);
  });

  it("is `failed` for somebody whom the account's owner has blocked", async () => {
    await process.adapter.send(to(ana, "before"));
    const item = { tag: "item", attrs: { jid: ana.pn, action: "block" } };
    const content = [{ tag: "blocklist", attrs: {}, content: [item] }];
    const attrs = { from: "s.whatsapp.net", type: "account_sync", id: "n-1", t: "1" };
    rig.web.stanza({ tag: "notification", attrs, content });
    await until(() => rig.web.seen.some(({ tag, attrs: got }) => tag === "ack" && got.id === "n-1"));
    expect(await process.adapter.send(to(ana, "after"))).toMatchObject({ status: "failed", code: "blocked" });
    expect(copies("after")).toBe(0);
  });

  it.each([
    [463, "failed", "account_restricted"],
    [479, "failed", "stale_session"],
    [429, "retry", "rate_limited"],
    [403, "failed", "forbidden"],
    [400, "failed", "rejected"],
    [503, "unknown", "server_error"],
  ])("is told by WhatsApp's error %i: %s, %s, and only once", async (error, status, code) => {
    rig.web.faults.fates.push({ kind: "refused", error });
    const message = to(ana, `error ${error}`);
    expect(await process.adapter.send(message)).toMatchObject({ status, code });
    await process.adapter.send(to(ana, "something else"));
    expect(levels(message.id)).toEqual([]);
  });

  it("is told also when WhatsApp says so after all, much later", async () => {
    rig.web.faults.fates.push({ kind: "silent" }, { kind: "silent" });
    const [taken, refused] = [to(ana, "taken"), to(ana, "refused")];
    expect(await process.adapter.send(taken)).toMatchObject({ status: "unknown", code: "no_answer" });
    expect(await process.adapter.send(refused)).toMatchObject({ status: "unknown", code: "no_answer" });
    const ack = (id = "", more = {}) =>
      rig.web.stanza({ tag: "ack", attrs: { class: "message", id, from: ana.pn, t: "1700000000", ...more } });
    ack(taken.id);
    ack(refused.id, { error: "463" });
    await until(() => levels(taken.id).length > 0 && levels(refused.id).length > 0);
    const word = (ref: string | undefined) => process.host.receipts.find((receipt) => receipt.ref === ref);
    expect(word(taken.id)).toMatchObject({ level: "accepted", at: 1_700_000_000_000 });
    expect(word(refused.id)).toMatchObject({ level: "failed", code: "account_restricted" });
  });

  it("is `retry` when nobody says which phones the person has", async () => {
    rig.web.faults.noUsync = true;
    const result = await process.adapter.send(to(ana, "which phones?"));
    expect(result).toMatchObject({ status: "retry", code: "no_answer" });
    rig.web.faults.noUsync = false;
    await sleep(50);
    expect(copies("which phones?")).toBe(0);
  });

  it("is `retry` when the connection is lost before it was handed over", async () => {
    rig.web.faults.cutAtUsync = true;
    expect((await process.adapter.send(to(ana, "too soon"))).status).toBe("retry");
    await until(() => process.adapter.status().state === "open");
    expect(copies("too soon")).toBe(0);
  });

  it("is `unknown` when the connection is lost after that", async () => {
    rig.web.faults.fates.push({ kind: "cut" });
    const message = to(ana, "who knows");
    const result = await process.adapter.send(message);
    expect(result).toMatchObject({ status: "unknown", code: "connection_lost", ref: message.id });
  });

  it("is `unknown` when it disappears in a black hole", async () => {
    await process.adapter.send(to(ana, "warm"));
    rig.web.faults.deaf = true;
    const message = to(ana, "anybody?");
    const result = await process.adapter.send(message);
    expect(result).toMatchObject({ status: "unknown", code: "no_answer", ref: message.id });
  });

  it("is `retry` while there is no connection", async () => {
    const { adapter } = rig.process();
    expect(await adapter.send(to(ana, "not yet"))).toMatchObject({ status: "retry", code: "not_connected" });
  });

  it("is `retry` when what was sent cannot be written down before", async () => {
    const { store } = rig;
    const set = store.set;
    store.set = async () => {
      throw new Error("away");
    };
    expect(await process.adapter.send(to(ana, "unwritten"))).toMatchObject({
      status: "retry",
      code: "store_unavailable",
    });
    store.set = set;
    expect(copies("unwritten")).toBe(0);
  });
});

describe("signs of life", () => {
  it("show that it types, and that a message was read", async () => {
    await ana.writes("hola", { id: "3AREAD" });
    await process.adapter.typing(ana.pn);
    await process.adapter.markRead({ chat: ana.pn, sender: ana.pn, id: "3AREAD" });
    await until(() => rig.web.seen.some(({ tag, attrs }) => tag === "receipt" && attrs.type === "read"));
    const read = rig.web.seen.findLast(({ tag, attrs }) => tag === "receipt" && attrs.type === "read");
    expect(read?.attrs).toMatchObject({ id: "3AREAD", to: ana.pn });
    const typing = rig.web.seen.findLast(({ tag }) => tag === "chatstate");
    expect(typing?.attrs.to).toBe(ana.pn);
    expect(typing?.content).toEqual([{ tag: "composing", attrs: {} }]);
  });

  it("never make a typing person of somebody who is online: the owner's phone goes on ringing", () => {
    const presences = rig.web.seen.filter(({ tag }) => tag === "presence");
    expect(presences.every(({ attrs }) => attrs.type !== "available")).toBe(true);
  });

  it("a person who types takes a moment", async () => {
    const human = await createWhatsappRig();
    const beto = human.web.contact("Beto");
    const { adapter } = await human.opened({ pacing: "human" }, {});
    expect(adapter.capabilities.limits.account.count).toBeLessThan(60);
    const sending = adapter.send({ chat: beto.pn, sender: beto.pn, group: false, text: "hola" });
    await until(() => human.web.seen.some(({ tag }) => tag === "chatstate"));
    expect(human.web.sent).toEqual([]);
    expect((await sending).status).toBe("accepted");
    await human.close();
  });
});
