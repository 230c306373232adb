import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWhatsappRig, until, type WhatsappProcess, type WhatsappRig } from "../../fixtures/whatsapp.js";

/**
 * A ratchet of Signal turns with each message. Turned twice from the same place, or forgotten, it makes messages that
 * nobody can read.
 */
describe("the ratchets of Signal sessions", () => {
  let rig: WhatsappRig;
  let process: WhatsappProcess;
  const events: string[] = [];

  beforeEach(async () => {
    rig = await createWhatsappRig();
    process = await rig.opened();
    events.length = 0;
  });
  afterEach(async () => {
    await rig.close();
    expect(rig.web.failures).toEqual([]);
  });

  /** From now on, a write takes that long, and is told of. */
  function slowStore(ms: (keys: readonly string[]) => number): void {
    const { fenced } = rig.store;
    const { write } = fenced;
    Object.assign(fenced, {
      async write(fence: number, entries: Readonly<Record<string, string | null>>) {
        await sleep(ms(Object.keys(entries)));
        const written = await write(fence, entries);
        for (const key of Object.keys(entries)) events.push(key.split(":")[1] ?? key);
        return written;
      },
    });
  }
  const received = () => process.host.received.map(({ text }) => text);
  const send = (chat: string, sender: string, text: string, group = false) =>
    process.adapter.send({ chat, sender, group, text, id: process.adapter.newId() });

  it("are written down before the message goes out", async () => {
    const ana = rig.web.contact("Ana");
    await ana.writes("hola");
    await until(() => received().length === 1);
    await send(ana.pn, ana.pn, "first");
    slowStore(() => 150);
    rig.web.next("sent").then(() => events.push("sent"));
    expect(await send(ana.pn, ana.pn, "second")).toMatchObject({ status: "accepted" });
    expect(events).toContain("session");
    expect(events.indexOf("session")).toBeLessThan(events.indexOf("sent"));
  });

  it("are written down before the message goes out to a group, and who knows its key only afterwards", async () => {
    const people = [rig.web.contact("Ana"), rig.web.contact("Beto")] as const;
    const group = rig.web.group(people);
    slowStore(() => 100);
    rig.web.next("sent").then(() => events.push("sent"));
    expect(await send(group.jid, people[0].pn, "hello all", true)).toMatchObject({ status: "accepted" });
    await until(() => events.includes("sender-key-memory"));
    const sent = events.indexOf("sent");
    for (const key of ["sender-key", "session"]) {
      expect(events).toContain(key);
      expect(events.slice(sent)).not.toContain(key);
    }
    expect(events.indexOf("sender-key-memory")).toBeGreaterThan(sent);
  });

  it("are not turned back by a message that is read while another one goes out", async () => {
    const ana = rig.web.contact("Ana");
    await ana.writes("in 1");
    await until(() => received().length === 1);
    await send(ana.pn, ana.pn, "out 1");
    await ana.writes("in 2");
    await until(() => received().length === 2);
    let held = false;
    slowStore((keys) => {
      const first = !held && keys.some((key) => key.startsWith("arrived:"));
      held ||= first;
      return first ? 300 : 0;
    });
    await ana.writes("in 3");
    await until(() => held);
    for (const text of ["out 2", "out 3"]) {
      expect(await send(ana.pn, ana.pn, text)).toMatchObject({ status: "accepted" });
    }
    await until(() => received().length === 3);
    expect(await send(ana.pn, ana.pn, "out 4")).toMatchObject({ status: "accepted" });
  });

  it("lose no turn where messages come and go at the same time", async () => {
    const ana = rig.web.contact("Ana");
    await ana.writes("in 0");
    await until(() => received().length === 1);
    slowStore(() => Math.random() * 20);
    const outgoing = Array.from({ length: 40 }, (_, n) => `out ${n}`);
    const incoming = Array.from({ length: 80 }, (_, n) => `in ${n + 1}`);
    await Promise.all([sendAll(), writeAll()]);
    await until(() => received().length === incoming.length + 1, received);
    expect(received()).toEqual(["in 0", ...incoming]);
    expect(rig.web.sent.map(({ text }) => text)).toEqual(outgoing);
    expect(rig.web.sent.every(({ readBy }) => readBy.includes(ana.pn) || readBy.includes(ana.lid))).toBe(true);
    expect(process.host.counts).not.toContain("undecryptable");

    async function sendAll() {
      for (const text of outgoing) expect(await send(ana.pn, ana.pn, text)).toMatchObject({ status: "accepted" });
    }
    async function writeAll() {
      for (const [n, text] of incoming.entries()) {
        await ana.writes(text);
        if (n % 4 === 3) await sleep(Math.random() * 120);
      }
    }
  });
});
