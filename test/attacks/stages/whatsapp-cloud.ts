import type { FakeApp, FakeGraph, FakeNumber, Person as Someone } from "../../fakes/whatsapp-graph/index.js";
import type { Person, Stage, Way } from "../attack.js";
import { createClients } from "./clients.js";

/** Somebody on WhatsApp, as Meta tells of them. */
export interface CloudPerson extends Person {
  readonly app: FakeApp;
  readonly number: FakeNumber;
  readonly someone: Someone;
}

/** @throws when the attack is run elsewhere */
export function onCloud(person: Person): CloudPerson {
  if (!("app" in person)) throw new Error("this attack is one on the Cloud API");
  return person as CloudPerson;
}

export interface CloudStageOptions {
  readonly app: FakeApp;
  readonly number: FakeNumber;
  readonly account: string;
}

export const cloudVerifyToken = "typed-into-metas-console";

const ways: readonly Way[] = ["typed", "forwarded", "caption", "voice", "edited", "reaction", "button", "echo"];

/** An account of the Cloud API in dale.yaml. */
export function cloudAccount(graph: FakeGraph, { app, number, account }: CloudStageOptions): unknown {
  return {
    name: account,
    agent: "cobranzas",
    phone_number_id: number.id,
    access_token: number.token,
    app_secret: app.secret,
    verify_token: cloudVerifyToken,
    graph_url: graph.url,
    limits: "off",
  };
}

/** People on WhatsApp whose messages Meta hands on; each message is answered by the receipts of their phone. */
export function cloudStage({ app, number, account }: CloudStageOptions): Stage {
  const clients = createClients({
    sent: () => number.sent.map(({ id, to, text }) => ({ id, to, text })),
    tell(id, level) {
      if (level === "delivered") number.status(id, "sent");
      number.status(
        id,
        level,
        level === "failed" ? { errors: [{ code: 131026, title: "Message undeliverable" }] } : {},
      );
    },
  });
  return {
    name: "WhatsApp Cloud API",
    slug: "cloud",
    longest: 4096,
    agents: new Set(["cobranzas"]),
    ways: new Set(ways),
    receipts: true,
    close: clients.close,
    async meet({ name = "Ana", blind = false } = {}) {
      const someone = number.person(name);
      const phone = someone.phone ?? "";
      const client = clients.open(phone, blind);
      let last = "";
      const person: CloudPerson = {
        session: `whatsapp_cloud:${account}:${phone}:${phone}`,
        agent: "cobranzas",
        app,
        number,
        someone,
        heard: () => client.read().map(({ text }) => text),
        receipts: client,
        async say(text, { way = "typed", quotes } = {}) {
          const quoted = quotes === undefined ? undefined : client.read()[quotes]?.id;
          const context = quoted === undefined ? {} : { context: { id: quoted, from: number.display } };
          last = send(app, number, someone, text, way, context) ?? last;
        },
        async changes(text) {
          const edit = { original_message_id: last, message: { type: "text", text: { body: text } } };
          number.message(someone, { type: "edit", edit });
        },
      };
      return person;
    },
  };
}

function send(
  app: FakeApp,
  number: FakeNumber,
  someone: Someone,
  text: string,
  way: Way,
  context: Readonly<Record<string, unknown>>,
): string | undefined {
  const bytes = new Uint8Array(8);
  switch (way) {
    case "forwarded":
      return number.types(someone, text, { context: { forwarded: true } });
    case "caption": {
      const image = { id: number.media(bytes), mime_type: "image/jpeg", sha256: "x", caption: text };
      return number.message(someone, { type: "image", image });
    }
    case "voice": {
      const audio = { id: number.media(bytes, "audio/ogg"), mime_type: "audio/ogg; codecs=opus", voice: true };
      return number.message(someone, { type: "audio", audio });
    }
    case "edited": {
      const edit = { original_message_id: "wamid.old", message: { type: "text", text: { body: text } } };
      return number.message(someone, { type: "edit", edit });
    }
    case "reaction": {
      const reaction = { message_id: number.sent.at(-1)?.id, emoji: text };
      return number.message(someone, { type: "reaction", reaction });
    }
    case "button": {
      const interactive = { type: "button_reply", button_reply: { id: "1", title: text } };
      return number.message(someone, { type: "interactive", interactive });
    }
    case "echo":
      app.tells({
        field: "smb_message_echoes",
        value: {
          messaging_product: "whatsapp",
          metadata: { display_phone_number: number.display, phone_number_id: number.id },
          message_echoes: [
            {
              from: number.display,
              to: someone.phone,
              id: number.wamid(),
              timestamp: String(Math.floor(Date.now() / 1000)),
              type: "text",
              text: { body: text },
            },
          ],
        },
      });
      return undefined;
    default:
      return number.types(someone, text, context);
  }
}
