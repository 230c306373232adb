import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Contact } from "../../fakes/whatsapp-web/index.js";
import { createWhatsappRig, until, type WhatsappProcess, type WhatsappRig } from "../../fixtures/whatsapp.js";

/** What WhatsApp believes that we have, and the host does not have yet. */
describe("what was acknowledged and not handed on", () => {
  let rig: WhatsappRig;
  let ana: Contact;

  beforeEach(async () => {
    rig = await createWhatsappRig();
    ana = rig.web.contact("Ana");
  });
  afterEach(async () => {
    await rig.close();
    expect(rig.web.failures).toEqual([]);
  });

  const texts = ({ host }: WhatsappProcess) => host.received.map(({ text }) => text);

  describe.each(["deleted", "edited", "edited unreadably"] as const)("a yes that was %s", (how) => {
    const changeOf = (id: string) => {
      const key = { remoteJid: ana.pn, fromMe: true, id };
      if (how === "deleted") return { protocolMessage: { type: 0, key } };
      if (how === "edited") return { protocolMessage: { type: 14, key, editedMessage: { conversation: "no" } } };
      const sealed = { encPayload: new Uint8Array(8), encIv: new Uint8Array(12), secretEncType: 2 };
      return { secretEncryptedMessage: { targetMessageKey: key, ...sealed } };
    };

    it("is no yes any more for the process that takes over", async () => {
      let release: (() => void) | undefined;
      const never = () =>
        new Promise<never>((_, reject) => {
          release = () => reject(new Error("too late"));
        });
      await rig.opened({}, { beforeReceive: never });
      const id = await ana.writes("si");
      await until(() => release !== undefined);
      const change = await ana.writes(changeOf(id));
      await until(() => rig.web.seen.some(({ tag, attrs }) => tag === "receipt" && attrs.id === change));
      rig.store.breakLease();
      await until(() => !rig.web.connected);
      await ana.writes("that was all");
      const second = rig.process();
      await second.adapter.start();
      await until(
        () => texts(second).includes("that was all"),
        () => [second.host.counts, second.host.received],
      );
      release?.();
      const yes = second.host.received.filter(({ text }) => text === "si");
      expect(yes.filter(({ provenance }) => provenance === "typed")).toEqual([]);
      if (how === "deleted") expect(second.host.counts).toContain("revoked_message");
      expect(second.host.retracted).toMatchObject([{ id }]);
    });
  });

  it.each(["first messages", "answered"] as const)(
    "is handed on by the same process, when the connection broke before it was told of (%s)",
    async (chat) => {
      const process = await rig.opened();
      await ana.writes("before");
      await until(() => texts(process).length === 1);
      if (chat === "answered") {
        const answer = { chat: ana.pn, sender: ana.pn, group: false, text: "hello", id: process.adapter.newId() };
        expect(await process.adapter.send(answer)).toMatchObject({ status: "accepted" });
      }
      const { fenced } = rig.store;
      const { write } = fenced;
      let cut = false;
      Object.assign(fenced, {
        async write(fence: number, entries: Readonly<Record<string, string | null>>) {
          const written = await write(fence, entries);
          const turned = Object.keys(entries).some((key) => key.includes(":session:"));
          if (turned && !cut) {
            cut = true;
            rig.web.cut();
            await sleep(50);
          }
          return written;
        },
      });
      await ana.writes("the message");
      await until(() => cut);
      await until(
        () => texts(process).includes("the message"),
        () => [texts(process), process.host.counts],
      );
      await ana.writes("after");
      await until(() => texts(process).includes("after"));
      expect(texts(process)).toEqual(["before", "the message", "after"]);
      await until(async () => (await fenced.keys("arrived:")).length === 0);
    },
  );

  it("is not held back for long, however steadily people go on writing", async () => {
    const process = await rig.opened();
    const people = [ana, rig.web.contact("Beto"), rig.web.contact("Carla")];
    rig.web.cut();
    await until(() => process.adapter.status().state !== "open");
    let written = 0;
    for (const end = Date.now() + 4_000; Date.now() < end; written++) {
      await people[written % people.length]?.writes(`line ${written}`);
      await sleep(40);
    }
    expect(process.host.received.length).toBeGreaterThan(written / 3);
    await until(() => process.host.received.length === written);
  });
});
