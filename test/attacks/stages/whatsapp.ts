import type { Contact, FakeWhatsappWeb, Group } from "../../fakes/whatsapp-web/index.js";
import { eventually, type Installation } from "../../fixtures/gateway.js";
import type { Person, Stage, Way } from "../attack.js";
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

/** Somebody on WhatsApp, with what the platform knows of them. */
interface WhatsappPerson extends Person {
  readonly contact: Contact;
  readonly room?: Group;
}

/**
 * People on WhatsApp, over a device that is linked to the operator's phone; what they write is encrypted for it.
 * @param inGroups whether they write in groups instead of chats of their own
 */
export function whatsappStage(web: FakeWhatsappWeb, account: string, inGroups = false): Stage {
  web.faults.noDelivery = true;
  const clients = createClients({
    sent: () => web.sent,
    tell(id, level, to, by) {
      // A refusal that comes after the acknowledgement: the addressee's phone could not be reached after all.
      const refused = { tag: "ack", attrs: { class: "message", id, from: to, error: "463" } };
      const more = {
        ...(level === "delivered" ? {} : { type: level }),
        ...(by === undefined ? {} : { participant: by }),
      };
      if (level === "failed") web.stanza(refused);
      else web.receipt({ id, to }, more);
    },
  });
  /** Who may come beside the first member of a group: a group's members are the same for ever. */
  const seats = new Map<Group, Contact>();
  return {
    name: inGroups ? "WhatsApp group" : "WhatsApp linked device",
    slug: inGroups ? "whatsapp-group" : "whatsapp",
    longest: 4096,
    group: inGroups,
    agents: new Set(["cobranzas"]),
    ways: new Set(inGroups ? ways.filter((way) => way !== "echo") : ways),
    receipts: true,
    close: clients.close,
    async meet({ name = "Ana", blind = false, beside } = {}) {
      const taken = (beside as WhatsappPerson | undefined)?.room;
      const contact = (taken && seats.get(taken)) ?? web.contact(name);
      const other = inGroups && !taken ? web.contact("Beto") : undefined;
      const room = taken ?? (other ? web.group([contact, other]) : undefined);
      if (room && other) seats.set(room, other);
      const chat = room?.jid ?? contact.pn;
      const client = clients.open(chat, blind, room ? contact.lid : undefined);
      let last = "";
      const person: WhatsappPerson = {
        session: `whatsapp:${account}:${chat}:${contact.pn}`,
        agent: "cobranzas",
        contact,
        ...(room ? { room } : {}),
        heard: () => client.read().map(({ text }) => text),
        receipts: client,
        async say(text, { way = "typed", quotes } = {}) {
          const quoted = quotes === undefined ? undefined : client.read()[quotes]?.id;
          last = (await send(web, contact, text, way, quoted, room)) ?? last;
        },
        async changes(text) {
          const key = { remoteJid: chat, fromMe: true, id: last };
          await writes(contact, room, { protocolMessage: { type: 14, key, editedMessage: { conversation: text } } });
        },
      };
      return person;
    },
  };
}

type Content = Parameters<Contact["writes"]>[0];

function writes(contact: Contact, room: Group | undefined, content: Content): Promise<string> {
  return contact.writes(content, room ? { group: room } : {});
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
  room?: Group,
): Promise<string | undefined> {
  const key = { remoteJid: contact.pn, id: web.sent.at(-1)?.id ?? "OLD" };
  switch (way) {
    case "forwarded": {
      const contextInfo = { isForwarded: true, forwardingScore: 1 };
      return await writes(contact, room, { extendedTextMessage: { text, contextInfo } });
    }
    case "caption": {
      const file = await web.upload(new Uint8Array(64), "image");
      return await writes(contact, room, { imageMessage: { ...file, mimetype: "image/jpeg", caption: text } });
    }
    case "voice": {
      const file = await web.upload(new Uint8Array(64), "audio");
      return await writes(contact, room, { audioMessage: { ...file, ptt: true, mimetype: "audio/ogg; codecs=opus" } });
    }
    case "edited": {
      const own = { ...key, fromMe: true };
      return await writes(contact, room, {
        protocolMessage: { type: 14, key: own, editedMessage: { conversation: text } },
      });
    }
    case "reaction":
      return await writes(contact, room, { reactionMessage: { key, text } });
    case "button":
      return await writes(contact, room, {
        buttonsResponseMessage: { selectedButtonId: "yes", selectedDisplayText: text, type: 1 },
      });
    case "echo":
      await web.ownerWrites(contact, text);
      return undefined;
    case "quoted_elsewhere": {
      const contextInfo = { stanzaId: key.id, remoteJid: "120363000000000001@g.us", participant: web.owner.pn };
      return await writes(contact, room, {
        extendedTextMessage: { text, contextInfo: { ...contextInfo, quotedMessage: { conversation: "…" } } },
      });
    }
    default: {
      const contextInfo = { stanzaId: quoted ?? "", participant: web.owner.pn, quotedMessage: { conversation: "…" } };
      return await writes(contact, room, quoted === undefined ? text : { extendedTextMessage: { text, contextInfo } });
    }
  }
}
