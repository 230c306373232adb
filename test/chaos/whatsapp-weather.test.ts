import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Contact } from "../fakes/whatsapp-web/index.js";
import { createWhatsappRig, until, type WhatsappRig } from "../fixtures/whatsapp.js";

const runMs = 15_000;

let rig: WhatsappRig;
beforeEach(async () => {
  rig = await createWhatsappRig();
});
afterEach(() => rig.close());

/** Three people write and are written to, alone and in a group, all at once. */
it.each([
  { slowMs: 60, cutMs: 0, failing: 0 },
  { slowMs: 60, cutMs: 700, failing: 0 },
  { slowMs: 30, cutMs: 0, failing: 0.2 },
  { slowMs: 60, cutMs: 900, failing: 0.1 },
])("loses nothing that came in, and sends nothing unreadable: %o", async ({ slowMs, cutMs, failing }) => {
  const people = ["Ana", "Beto", "Carla"].map((name) => rig.web.contact(name));
  const group = rig.web.group(people);
  const process = await rig.opened();
  const { adapter, host } = process;
  const { fenced } = rig.store;
  const { write } = fenced;
  Object.assign(fenced, {
    async write(fence: number, entries: Readonly<Record<string, string | null>>) {
      await sleep(Math.random() * slowMs);
      if (Math.random() < failing) throw new Error("away");
      return write(fence, entries);
    },
  });
  const end = Date.now() + runMs;
  const written: string[] = [];

  async function cutting() {
    while (cutMs > 0 && Date.now() < end) {
      await sleep(Math.random() * cutMs * 2);
      rig.web.cut();
      await until(() => adapter.status().state === "open");
    }
  }
  async function sending(chat: string, sender: string, inGroup: boolean) {
    for (let n = 0; Date.now() < end; n++) {
      await adapter.send({ chat, sender, group: inGroup, text: `out ${n}`, id: adapter.newId() });
      await sleep(30);
    }
  }
  async function writing(person: Contact) {
    for (let n = 0; Date.now() < end; n++) {
      const text = `${person.name} ${n}`;
      written.push(text);
      await person.writes(text, n % 5 === 4 ? { group } : { as: n % 2 === 0 ? "pn" : "lid" });
      await sleep(80 + Math.random() * 200);
    }
  }
  const [ana] = people;
  if (!ana) throw new Error("nobody is there");
  await Promise.all([
    cutting(),
    sending(group.jid, ana.pn, true),
    ...people.flatMap((person) => [sending(person.pn, person.pn, false), writing(person)]),
  ]);
  const heard = () => new Set(host.received.map(({ text }) => text));
  // As long as more is heard: each message that has to be asked for again takes its time.
  for (let before = -1; heard().size > before && heard().size < written.length; await sleep(10_000)) {
    before = heard().size;
  }
  expect(written.filter((text) => !heard().has(text))).toEqual([]);
  expect(host.received).toHaveLength(written.length);
  expect(rig.web.failures).toEqual([]);
  const own = [rig.web.owner.pn, rig.web.owner.lid];
  const unread = rig.web.sent.filter(({ readBy }) => readBy.every((jid) => own.includes(jid)));
  expect(unread).toEqual([]);
});
