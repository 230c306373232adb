import type { Contact, FakeWhatsappWeb } from "../../fakes/whatsapp-web/index.js";
import { eventually, type Installation } from "../../fixtures/gateway.js";
import type { Stage, Way } from "../attack.js";
import { createClients } from "./clients.js";

const ways: readonly Way[] = [
  "typed",
  "forwarded",
  "caption",
  "voice",
  "edited",
  "reaction",
  "button",
  "echo",
  "quoted_elsewhere",
];

/** People on WhatsApp, over a device that is linked to the operator's phone; what they write is encrypted for it. */
export function whatsappStage(web: FakeWhatsappWeb, account: string): Stage {
  web.faults.noDelivery = true;
  const clients = createClients({
    sent: () => web.sent,
    tell(id, level, to) {
      // A refusal that comes after the acknowledgement: the addressee's phone could not be reached after all.
      const refused = { tag: "ack", attrs: { class: "message", id, from: to, error: "463" } };
      if (level === "failed") web.stanza(refused);
      else web.receipt({ id, to }, level === "delivered" ? {} : { type: level });
    },
  });
  return {
    name: "WhatsApp linked device",
    slug: "whatsapp",
    longest: 4096,
    agents: new Set(["cobranzas"]),
    ways: new Set(ways),
    receipts: true,
    close: clients.close,
    async meet({ name = "Ana", blind = false } = {}) {
      const contact = web.contact(name);
      const client = clients.open(contact.pn, blind);
      let last = "";
      return {
        session: `whatsapp:${account}:${contact.pn}:${contact.pn}`,
        agent: "cobranzas",
        heard: () => client.read().map(({ text }) => text),
        receipts: client,
        async say(text, { way = "typed", quotes } = {}) {
          const quoted = quotes === undefined ? undefined : client.read()[quotes]?.id;
          last = (await send(web, contact, text, way, quoted)) ?? last;
        },
        async changes(text) {
          const key = { remoteJid: contact.pn, fromMe: true, id: last };
          await contact.writes({ protocolMessage: { type: 14, key, editedMessage: { conversation: text } } });
        },
      };
    },
  };
}

/** Links the account by the code that it shows. */
export async function linked(web: FakeWhatsappWeb, place: Installation, account: string): Promise<void> {
  const shown = async () => {
    const response = await fetch(`${place.url}/v1/channels`, { headers: { authorization: `Bearer ${place.token}` } });
    const { items } = (await response.json()) as { items: { name: string; state: string; qr?: string }[] };
    return items.find(({ name }) => name === account);
  };
  web.scan(await eventually(async () => (await shown())?.qr));
  await eventually(async () => (await shown())?.state === "open");
}

async function send(
  web: FakeWhatsappWeb,
  contact: Contact,
  text: string,
  way: Way,
  quoted?: string,
): Promise<string | undefined> {
  const key = { remoteJid: contact.pn, id: web.sent.at(-1)?.id ?? "OLD" };
  switch (way) {
    case "forwarded": {
      const contextInfo = { isForwarded: true, forwardingScore: 1 };
      return await contact.writes({ extendedTextMessage: { text, contextInfo } });
    }
    case "caption": {
      const file = await web.upload(new Uint8Array(64), "image");
      return await contact.writes({ imageMessage: { ...file, mimetype: "image/jpeg", caption: text } });
    }
    case "voice": {
      const file = await web.upload(new Uint8Array(64), "audio");
      return await contact.writes({ audioMessage: { ...file, ptt: true, mimetype: "audio/ogg; codecs=opus" } });
    }
    case "edited": {
      const own = { ...key, fromMe: true };
      return await contact.writes({
        protocolMessage: { type: 14, key: own, editedMessage: { conversation: text } },
      });
    }
    case "reaction":
      return await contact.writes({ reactionMessage: { key, text } });
    case "button":
      return await contact.writes({
        buttonsResponseMessage: { selectedButtonId: "yes", selectedDisplayText: text, type: 1 },
      });
    case "echo":
      await web.ownerWrites(contact, text);
      return undefined;
    case "quoted_elsewhere": {
      const contextInfo = { stanzaId: key.id, remoteJid: "120363000000000001@g.us", participant: web.owner.pn };
      return await contact.writes({
        extendedTextMessage: { text, contextInfo: { ...contextInfo, quotedMessage: { conversation: "…" } } },
      });
    }
    default: {
      const contextInfo = { stanzaId: quoted ?? "", participant: web.owner.pn, quotedMessage: { conversation: "…" } };
      return await contact.writes(quoted === undefined ? text : { extendedTextMessage: { text, contextInfo } });
    }
  }
}
