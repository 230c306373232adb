import { type CallKind, createFaultScript, type FaultScript } from "./faults.js";
import type { Change } from "./pusher.js";

/** Someone on WhatsApp, as a business may see them. */
export interface Person {
  readonly name: string;
  /** Absent: they have a username, and Meta does not tell their number. */
  readonly phone?: string;
  /** Absent: as before April 2026. */
  readonly userId?: string;
}

export interface SentMessage {
  /** Phone number, business-scoped id, or group id. */
  readonly to: string;
  readonly by: "to" | "recipient";
  readonly group: boolean;
  readonly id: string;
  readonly type: "text" | "template";
  /** Of a template: its parameter. */
  readonly text: string;
  readonly template?: string;
  readonly replyTo?: string;
  readonly opaque?: string;
}

export interface Call {
  readonly kind: CallKind;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A message as a webhook tells of it, without what the number adds. */
export type Fields = Readonly<Record<string, unknown>> & { readonly type: string };

export interface MessageOptions {
  /** Default: a fresh one. */
  readonly id?: string;
  /** Ms since 1970. Default: now. */
  readonly at?: number;
  readonly group?: string;
  /** Default: the one person. False: none at all. */
  readonly contacts?: readonly Person[] | false;
}

/** One business number of the fake: what people do to it, what it sent, and what goes wrong. */
export interface FakeNumber {
  /** `phone_number_id`. */
  readonly id: string;
  /** The number itself. */
  readonly display: string;
  readonly token: string;
  readonly faults: FaultScript;
  /** What the server took, oldest first. */
  readonly sent: readonly SentMessage[];
  readonly calls: readonly Call[];
  /** Statuses that follow by themselves on each message that is taken; `beforeAnswer`: even before the call returns. */
  reports: { readonly statuses: readonly string[]; readonly beforeAnswer?: boolean };
  /** The token is not taken any more. */
  expired: boolean;
  person(name?: string, ids?: { readonly phone?: string | null; readonly userId?: string | null }): Person;
  /** That person is known by those ids from now on: they have changed their number, or taken a username. */
  rename(person: Person, ids: { readonly phone?: string | null; readonly userId?: string | null }): Person;
  group(): string;
  /** They write that; returns the message's id. */
  types(person: Person, text: string, more?: Readonly<Record<string, unknown>>, options?: MessageOptions): string;
  message(person: Person, fields: Fields, options?: MessageOptions): string;
  /** What is told of them has no contacts. */
  system(fields: Readonly<Record<string, unknown>>, from?: string, at?: number): string;
  /** Reports a status of a message that was sent. @param at ms since 1970 */
  status(id: string, status: string, more?: Readonly<Record<string, unknown>>, at?: number): void;
  /** Adds to the `value` of a change of the field `messages`. */
  tells(value: Readonly<Record<string, unknown>>): void;
  /** A file that a message may name. */
  media(bytes: Uint8Array, mime?: string): string;
  wamid(): string;
}

export type Answer = { readonly status: number; readonly body: unknown } | { readonly bytes: Uint8Array };

export interface ServedNumber extends FakeNumber {
  post(payload: Readonly<Record<string, unknown>>): Answer;
  mediaOf(id: string, base: string): Answer | undefined;
  fileAt(key: string): Uint8Array | undefined;
  called(kind: CallKind, payload: Readonly<Record<string, unknown>>): void;
  /** Resolves when the webhook has confirmed all that it was told. */
  told(): Promise<void>;
}

export const refuse = (status: number, code: number, details: string, subcode?: number): Answer => ({
  status,
  body: {
    error: {
      message: `(#${code}) ${details}`,
      type: "OAuthException",
      code,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
      error_data: { messaging_product: "whatsapp", details },
      fbtrace_id: "A1b2C3",
    },
  },
});

export interface NumberOptions {
  readonly index: number;
  readonly push: (change: Change) => void;
  readonly told: () => Promise<void>;
  readonly now: () => number;
}

export function createNumber({ index, push, told, now }: NumberOptions): ServedNumber {
  const id = `10654${String(index).padStart(10, "0")}`;
  const display = `1555078${String(3880 + index)}`;
  const people = new Set<string>();
  const groups = new Set<string>();
  const inbound = new Set<string>();
  const sent: SentMessage[] = [];
  const calls: Call[] = [];
  const files = new Map<string, { readonly bytes: Uint8Array; readonly mime: string; url: number }>();
  let serial = 0;
  let reports: FakeNumber["reports"] = { statuses: [] };
  let expired = false;

  const wamid = () => `wamid.${Buffer.from(`${id}-${++serial}-${"A".repeat(16)}`).toString("base64")}`;
  const seconds = (at: number) => String(Math.floor(at / 1000));
  const metadata = { display_phone_number: display, phone_number_id: id };
  const tells: FakeNumber["tells"] = (value) =>
    push({ field: "messages", value: { messaging_product: "whatsapp", metadata, ...value } });
  const contactOf = (person: Person) => ({
    profile: { name: person.name },
    ...(person.phone === undefined ? {} : { wa_id: person.phone }),
    ...(person.userId === undefined ? {} : { user_id: person.userId }),
  });
  const know = (person: Person): Person => {
    if (person.phone !== undefined) people.add(person.phone);
    if (person.userId !== undefined) people.add(person.userId);
    return person;
  };
  const status: FakeNumber["status"] = (ref, name, more = {}, at = now()) => {
    const message = sent.find((one) => one.id === ref);
    tells({
      statuses: [
        {
          id: ref,
          status: name,
          timestamp: seconds(at),
          ...(message ? { recipient_id: message.to } : {}),
          ...(message?.group ? { recipient_type: "group" } : {}),
          ...(message?.opaque === undefined ? {} : { biz_opaque_callback_data: message.opaque }),
          ...(name === "sent" ? { pricing: { billable: false, pricing_model: "PMP", category: "service" } } : {}),
          ...more,
        },
      ],
    });
  };

  function text(payload: Readonly<Record<string, unknown>>): { text: string; template?: string } | Answer {
    const { type } = payload;
    if (type === "text") {
      const { body } = payload.text as { body?: unknown };
      if (typeof body !== "string" || body === "") return refuse(400, 131008, "Required parameter is missing");
      if (/\p{Surrogate}/u.test(body)) return refuse(400, 100, "Invalid parameter");
      if ([...body].length > 4096) return refuse(400, 100, "Param text['body'] must be at most 4096 characters long");
      return { text: body };
    }
    if (type !== "template") return refuse(400, 131051, "Unsupported message type");
    const { name, components } = payload.template as {
      name: string;
      components: { parameters: { text: string }[] }[];
    };
    const parameter = components[0]?.parameters[0]?.text ?? "";
    if (/[\n\t]| {5}/.test(parameter)) return refuse(400, 132018, "Param text cannot have new-line/tab characters");
    return { text: parameter, template: name };
  }

  return {
    id,
    display,
    token: `EAAG-fake-token-of-${index}-ZZ`,
    faults: createFaultScript(),
    sent,
    calls,
    get reports() {
      return reports;
    },
    set reports(value) {
      reports = value;
    },
    get expired() {
      return expired;
    },
    set expired(value) {
      expired = value;
    },
    person(name = "Ana", ids = {}) {
      serial++;
      const phone = ids.phone === undefined ? `54911555${index}${String(serial).padStart(4, "0")}` : ids.phone;
      const userId = ids.userId === undefined ? `AR.${index}${serial}00998877` : ids.userId;
      return know({ name, ...(phone === null ? {} : { phone }), ...(userId === null ? {} : { userId }) });
    },
    rename(person, ids) {
      const phone = ids.phone === undefined ? person.phone : (ids.phone ?? undefined);
      const userId = ids.userId === undefined ? person.userId : (ids.userId ?? undefined);
      return know({
        name: person.name,
        ...(phone === undefined ? {} : { phone }),
        ...(userId === undefined ? {} : { userId }),
      });
    },
    group() {
      const group = `Y2FwaV9ncm91cDox${index}${++serial}ZD`;
      groups.add(group);
      return group;
    },
    types(person, body, more = {}, options = {}) {
      return this.message(person, { type: "text", text: { body }, ...more }, options);
    },
    message(person, fields, options = {}) {
      const message = options.id ?? wamid();
      inbound.add(message);
      const contacts = options.contacts === undefined ? [person] : options.contacts;
      tells({
        ...(contacts === false ? {} : { contacts: contacts.map(contactOf) }),
        messages: [
          {
            ...(person.phone === undefined ? {} : { from: person.phone }),
            ...(person.userId === undefined ? {} : { from_user_id: person.userId }),
            ...(options.group === undefined ? {} : { group_id: options.group }),
            id: message,
            timestamp: seconds(options.at ?? now()),
            ...fields,
          },
        ],
      });
      return message;
    },
    system(fields, from, at = now()) {
      const message = wamid();
      const sender = from === undefined ? {} : { from };
      tells({ messages: [{ ...sender, id: message, timestamp: seconds(at), type: "system", system: fields }] });
      return message;
    },
    status,
    tells,
    told,
    media(bytes, mime = "image/jpeg") {
      const file = String(1_000_000_000 + ++serial);
      files.set(file, { bytes, mime, url: 0 });
      return file;
    },
    wamid,
    called(kind, payload) {
      calls.push({ kind, payload });
    },
    post(payload) {
      if (expired) return refuse(401, 190, "Error validating access token: Session has expired", 463);
      if (payload.messaging_product !== "whatsapp") return refuse(400, 100, "messaging_product is required");
      if (payload.status !== undefined) {
        const known = payload.status === "read" && inbound.has(String(payload.message_id));
        return known ? { status: 200, body: { success: true } } : refuse(400, 131009, "Parameter value is not valid");
      }
      const group = payload.recipient_type === "group";
      const by = payload.to === undefined ? "recipient" : "to";
      const to = String(payload[by] ?? "");
      if (!(group ? groups : people).has(to)) return refuse(400, 131026, "Message undeliverable");
      const content = text(payload);
      if (!("text" in content)) return content;
      const replyTo = (payload.context as { message_id?: string } | undefined)?.message_id;
      if (replyTo !== undefined && !inbound.has(replyTo)) return refuse(400, 131009, "Parameter value is not valid");
      const message = wamid();
      const opaque = payload.biz_opaque_callback_data;
      sent.push({
        to,
        by,
        group,
        id: message,
        type: payload.type as "text" | "template",
        ...content,
        ...(replyTo === undefined ? {} : { replyTo }),
        ...(typeof opaque === "string" ? { opaque } : {}),
      });
      for (const name of reports.statuses) status(message, name);
      const contact = by === "recipient" ? { input: to, user_id: to } : { input: to, wa_id: to };
      return {
        status: 200,
        body: { messaging_product: "whatsapp", contacts: [contact], messages: [{ id: message }] },
      };
    },
    mediaOf(file, base) {
      const found = files.get(file);
      if (!found) return undefined;
      const { bytes, mime } = found;
      const url = `${base}/whatsapp_business/attachments/?mid=${file}&ext=${++found.url}`;
      const body = { messaging_product: "whatsapp", url, mime_type: mime, file_size: bytes.byteLength, id: file };
      return { status: 200, body };
    },
    fileAt(key) {
      const [, file = "", ext = ""] = /mid=(\d+)&ext=(\d+)/.exec(key) ?? [];
      const found = files.get(file);
      return found && found.url === Number(ext) ? found.bytes : undefined;
    },
  };
}
