import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { InboundMessage } from "../../../src/channels/index.js";
import { createMemoryChannelStore, type MemoryChannelStore } from "../../../src/store/index.js";
import type { Contact } from "../../fakes/whatsapp-web/index.js";
import { createWhatsappRig, until, type WhatsappProcess, type WhatsappRig } from "../../fixtures/whatsapp.js";

/** Two processes, one account: WhatsApp allows one connection a device. */
describe("the account's owner", () => {
  let rig: WhatsappRig;
  let ana: Contact;

  beforeEach(async () => {
    rig = await createWhatsappRig();
    ana = rig.web.contact("Ana");
  });
  afterEach(() => rig.close());

  const isOpen = ({ adapter }: WhatsappProcess) =>
    until(
      () => adapter.status().state === "open",
      () => adapter.status(),
    );
  const logins = () => rig.web.logins.filter((kind) => kind === "login").length;
  const texts = ({ host }: WhatsappProcess) => host.received.map(({ text }) => text);

  async function standsBy(): Promise<WhatsappProcess> {
    const second = rig.process();
    await second.adapter.start();
    await until(() => second.adapter.status().state === "reconnecting");
    expect(second.adapter.status().reason).toMatch(/stands by/);
    return second;
  }

  it("is followed by the one that stands by, who goes on where it stopped, with one login", async () => {
    const first = await rig.opened();
    const second = await standsBy();
    for (let n = 0; n < 5; n++) await ana.writes(`before ${n}`);
    await until(() => texts(first).length === 5);
    await first.adapter.send({ chat: ana.pn, sender: ana.pn, group: false, text: "hola" });
    expect(logins()).toBe(1);
    // Its lease runs out: it does not know that it is not the owner any more until it is told.
    rig.store.breakLease();
    await isOpen(second);
    expect(logins()).toBe(2);
    for (let n = 0; n < 5; n++) await ana.writes(`after ${n}`);
    await until(
      () => texts(second).length === 5,
      () => [texts(second), second.host.counts],
    );
    expect(second.host.counts).not.toContain("undecryptable");
    expect(await second.adapter.send({ chat: ana.pn, sender: ana.pn, group: false, text: "y chau" })).toMatchObject({
      status: "accepted",
    });
    expect(rig.web.sent.at(-1)).toMatchObject({ text: "y chau" });
    await sleep(200);
    expect(logins()).toBe(2);
    expect(first.adapter.status()).toMatchObject({ state: "reconnecting" });
    expect(await first.adapter.send({ chat: ana.pn, sender: ana.pn, group: false, text: "zombie" })).toMatchObject({
      status: "retry",
    });
  });

  it("writes nothing any more once another was given the lease", async () => {
    const first = await rig.opened();
    await ana.writes("hola");
    await until(() => texts(first).length === 1);
    // Another process is given the lease, and this one is not told.
    const { fenced } = rig.store;
    const write = fenced.write;
    let refused = 0;
    Object.assign(fenced, {
      write: async () => {
        refused++;
        return false;
      },
    });
    await ana.writes("to a zombie");
    await until(() => refused > 0);
    await until(
      () => first.adapter.status().state !== "open",
      () => first.adapter.status(),
    );
    Object.assign(fenced, { write });
    await isOpen(first);
    await until(
      () => texts(first).includes("to a zombie"),
      () => [texts(first), first.host.counts],
    );
  });

  it("holds up no other account of its process, when its lease goes while a message is under way", async () => {
    const first = await rig.opened();
    const other = await createWhatsappRig();
    const second = await other.opened();
    const beto = other.web.contact("Beto");
    const send = ({ adapter }: WhatsappProcess, { pn }: Contact) =>
      adapter.send({ chat: pn, sender: pn, group: false, text: "hello", id: adapter.newId() });
    await Promise.all([send(first, ana), send(second, beto)]);
    const { fenced } = rig.store;
    const { write } = fenced;
    let writing = false;
    Object.assign(fenced, {
      async write(fence: number, entries: Readonly<Record<string, string | null>>) {
        writing = true;
        await sleep(100);
        return write(fence, entries);
      },
    });
    const inFlight = send(first, ana);
    await until(() => writing);
    rig.store.breakLease();
    const taken = await rig.store.acquireLease(60_000);
    const began = Date.now();
    expect(await send(second, beto)).toMatchObject({ status: "accepted" });
    await beto.writes("hola");
    await until(() => texts(second).includes("hola"));
    expect(Date.now() - began).toBeLessThan(2_000);
    expect(await inFlight).toMatchObject({ status: "retry" });
    await taken?.release();
    await other.close();
  });

  it("does not fight for the connection with a client that has a copy of its link", async () => {
    const first = await rig.opened();
    const copy = await copyOf(rig.store);
    const before = logins();
    const thief = rig.process({}, { store: copy });
    await thief.adapter.start();
    await until(
      () => first.adapter.status().state === "reconnecting",
      () => first.adapter.status(),
    );
    expect(first.adapter.status().reason).toMatch(/Another client has taken over/);
    await sleep(1_000);
    // Each waits longer after each time that it was thrown out.
    expect(logins() - before).toBeLessThan(8);
    await thief.adapter.stop();
    await isOpen(first);
  });

  it("leaves nothing behind that it had taken: the next one hands it on", async () => {
    let release: () => void = () => {};
    const never = new Promise<void>((resolve) => {
      release = resolve;
    });
    const taken: InboundMessage[] = [];
    const first = await rig.opened(
      {},
      {
        beforeReceive: async (message) => {
          taken.push(message);
          await never;
          throw new Error("too late");
        },
      },
    );
    for (const text of ["one", "two", "three"]) await ana.writes(text);
    await until(() => taken.length > 0);
    await until(() => rig.web.seen.filter(({ tag }) => tag === "receipt").length >= 3);
    // It dies here: WhatsApp has its receipts, and nobody has the messages.
    rig.store.breakLease();
    const second = rig.process();
    await second.adapter.start();
    await until(
      () => texts(second).length === 3,
      () => texts(second),
    );
    expect(texts(second)).toEqual(["one", "two", "three"]);
    expect(second.host.received[0]).toMatchObject({
      id: taken[0]?.id,
      sentAt: taken[0]?.sentAt,
      provenance: "typed",
      senderName: "Ana",
    });
    await until(() => second.adapter.status().state === "open");
    release();
    expect(first.host.received).toEqual([]);
    await until(async () => (await rig.store.fenced.keys("arrived:")).length === 0);
  });

  it("puts what it takes up in its place among what has waited at WhatsApp", async () => {
    let release: (() => void) | undefined;
    const never = () =>
      new Promise<never>((_, reject) => {
        release = () => reject(new Error("too late"));
      });
    await rig.opened({}, { beforeReceive: never });
    const now = Math.floor(Date.now() / 1000);
    await ana.writes("dale", { at: now });
    await until(() => release !== undefined);
    rig.store.breakLease();
    await until(() => !rig.web.connected);
    await ana.writes("no, wait", { at: now - 3 });
    await ana.writes("that was all", { at: now + 1 });
    const second = rig.process();
    await second.adapter.start();
    await until(
      () => texts(second).length === 3,
      () => texts(second),
    );
    release?.();
    expect(texts(second)).toEqual(["no, wait", "dale", "that was all"]);
  });

  it("keeps no message that was handed on", async () => {
    const first = await rig.opened();
    await ana.writes("hola");
    await rig.web.ownerWrites(ana, "from the phone");
    await ana.writes({ reactionMessage: { key: { id: "X" }, text: "👍" } });
    await until(() => first.host.counts.includes("reaction") && first.host.counts.includes("echo"));
    await until(async () => (await rig.store.fenced.keys("arrived:")).length === 0);
  });

  it("acknowledges nothing while the store is away, and then everything", async () => {
    const first = await rig.opened();
    await ana.writes("before");
    await until(() => texts(first).length === 1);
    const { fenced } = rig.store;
    const write = fenced.write;
    let refused = 0;
    Object.assign(fenced, {
      write: async () => {
        refused++;
        throw new Error("away");
      },
    });
    const id = await ana.writes("while it is away");
    const receipts = () => rig.web.seen.filter(({ tag, attrs }) => tag === "receipt" && attrs.id === id).length;
    await until(() => refused > 1);
    expect(receipts()).toBe(0);
    Object.assign(fenced, { write });
    await until(
      () => receipts() === 1,
      () => first.host.counts,
    );
    await until(() => texts(first).length === 2);
    expect(first.host.counts).not.toContain("undecryptable");
    expect(first.adapter.status().state).toBe("open");
  });

  it("says so where it cannot read what is kept, and throws nothing away", async () => {
    const key = Buffer.alloc(32, 1).toString("base64");
    const first = await rig.opened({ encryptionKeys: [key] });
    await first.adapter.stop();
    const kept = await rig.store.fenced.keys("");
    const second = rig.process({ encryptionKeys: [Buffer.alloc(32, 2).toString("base64")] });
    await second.adapter.start();
    await until(() => second.adapter.status().state === "stopped");
    expect(second.adapter.status().reason).toMatch(/not among encryption_keys/);
    expect(await rig.store.fenced.keys("")).toEqual(kept);
    await second.adapter.stop();
    const third = rig.process({ encryptionKeys: [key] });
    await third.adapter.start();
    await isOpen(third);
  });
});

async function copyOf(store: MemoryChannelStore): Promise<MemoryChannelStore> {
  const copy = createMemoryChannelStore();
  const keys = await store.fenced.keys("");
  const values = await store.fenced.read(keys);
  const lease = await copy.acquireLease(1_000);
  await copy.fenced.write(lease?.fence ?? 0, Object.fromEntries(keys.map((key, n) => [key, values[n] ?? null])));
  await lease?.release();
  return copy;
}
