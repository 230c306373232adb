import { createWhatsappAdapter } from "../../adapters/whatsapp/index.js";
import { createMemoryChannelStore } from "../../src/store/index.js";
import { type Contact, type FakeWhatsappWeb, type Group, startFakeWhatsappWeb } from "../fakes/whatsapp-web/index.js";
import { createTestHost } from "../fixtures/channel-host.js";
import { link, noOptions, quickTiming } from "../fixtures/whatsapp.js";
import { type ChannelRig, channelAdapterContract, type Person } from "./channel-adapter.js";

channelAdapterContract({
  title: "WhatsApp, linked device",
  skips: { order: "WhatsApp numbers no messages: there are only times, in whole seconds" },
  create: createRig,
});

async function createRig(): Promise<ChannelRig> {
  const web = await startFakeWhatsappWeb();
  const store = await linkedStore(web);
  const [ana, beto] = [web.contact("Ana"), web.contact("Beto")];
  const group = web.group([ana, beto]);
  const first = alone(ana);
  const second = alone(beto);
  const people: readonly { readonly person: Person; readonly contact: Contact; readonly group?: Group }[] = [
    { person: first, contact: ana },
    { person: second, contact: beto },
    { person: { chat: group.jid, sender: ana.pn, group: true }, contact: ana, group },
    { person: { chat: group.jid, sender: beto.pn, group: true }, contact: beto, group },
  ];
  const members = people.slice(2).map(({ person }) => person);
  let last = "";

  return {
    adapter(host) {
      const shared = { ...host.host, store };
      return createWhatsappAdapter({ ...noOptions, socketUrl: web.url, timing: quickTiming }, shared);
    },
    people: [first, second],
    members: [members[0] ?? first, members[1] ?? second],
    secrets: [ana, beto, web.owner].flatMap(({ pn, lid }) => [digits(pn), digits(lid)]),
    async personSends(text, { person = first, quotes } = {}) {
      const from = people.find((one) => one.person === person) ?? people[0];
      if (!from) return;
      const content =
        quotes === undefined ? text : { extendedTextMessage: { text, contextInfo: quoting(quotes, web) } };
      last = await from.contact.writes(content, from.group ? { group: from.group } : {});
    },
    async personMoves(move) {
      switch (move.kind) {
        case "forwards": {
          const contextInfo = { isForwarded: true, forwardingScore: 1 };
          await ana.writes({ extendedTextMessage: { text: move.text, contextInfo } });
          return;
        }
        case "captions": {
          const file = await web.upload(new TextEncoder().encode("the bytes of a picture"), "image");
          await ana.writes({ imageMessage: { ...file, mimetype: "image/jpeg", caption: move.text } });
          return;
        }
        case "records": {
          const file = await web.upload(new Uint8Array(64), "audio");
          await ana.writes({ audioMessage: { ...file, ptt: true, mimetype: "audio/ogg; codecs=opus" } });
          return;
        }
        case "edits": {
          const key = { remoteJid: ana.pn, fromMe: true, id: last };
          await ana.writes({ protocolMessage: { type: 14, key, editedMessage: { conversation: move.text } } });
          return;
        }
        case "reacts":
          await ana.writes({ reactionMessage: { key: { remoteJid: ana.pn, id: last }, text: "👍" } });
          return;
        case "presses":
          await ana.writes({
            buttonsResponseMessage: { selectedButtonId: "yes", selectedDisplayText: move.text, type: 1 },
          });
          return;
        case "echoes":
          await web.ownerWrites(ana, move.text);
          return;
      }
    },
    redeliver: () => web.redeliver("encrypted again"),
    sent: () =>
      web.sent.map(({ id, to, text, quotes }) => ({
        chat: to,
        text,
        ref: id,
        ...(quotes === undefined ? {} : { replyTo: quotes }),
      })),
    async fault(fault) {
      switch (fault) {
        case "refused":
          return void web.faults.fates.push({ kind: "refused", error: 463 });
        case "rate_limited":
          return void web.faults.fates.push({ kind: "refused", error: 429 });
        case "broken":
          return void web.faults.fates.push({ kind: "refused", error: 500 });
        case "silent":
        case "cut":
          return void web.faults.fates.push({ kind: fault });
        case "unreachable":
          web.faults.cutAtUsync = true;
      }
    },
    async reports(ref, level) {
      web.receipt({ id: ref, to: ana.pn }, level === "delivered" ? {} : { type: level });
    },
    close: () => web.close(),
  };
}

/** The state of a device that a phone has linked already. */
async function linkedStore(web: FakeWhatsappWeb) {
  const store = createMemoryChannelStore();
  const { host } = createTestHost({ store });
  const adapter = createWhatsappAdapter({ ...noOptions, socketUrl: web.url, timing: quickTiming }, host);
  await adapter.start();
  await link(web, adapter);
  await adapter.stop();
  return store;
}

function alone({ pn }: Contact): Person {
  return { chat: pn, sender: pn, group: false };
}

function quoting(stanzaId: string, web: FakeWhatsappWeb) {
  return { stanzaId, participant: web.owner.pn, quotedMessage: { conversation: "…" } };
}

function digits(jid: string): string {
  return jid.slice(0, jid.indexOf("@"));
}
