import { z } from "zod";
import { type ChannelStore, type OutboundMessage, type SendResult, wellFormed } from "../../src/channels/index.js";
import { sendFaultOf, type Waits } from "./fault-words.js";
import type { Attempt, GraphApi } from "./graph-api.js";
import type { WhatsappCloudOptions } from "./options.js";
import type { People } from "./people.js";
import { digitsOf } from "./phones.js";

/** What POST /messages has to answer for a message to count as accepted: 200 means no more than that. */
const sentMessage = z.object({
  messages: z.tuple([z.looseObject({ id: z.string().min(1) })]).rest(z.unknown()),
  contacts: z
    .array(z.looseObject({ wa_id: z.string().optional() }))
    .catch([])
    .default([]),
});

export interface SendingOptions {
  readonly api: GraphApi;
  readonly phoneNumberId: string;
  readonly people: People;
  readonly store: ChannelStore;
  readonly lateTemplate: WhatsappCloudOptions["lateTemplate"];
  readonly troubleMs: number;
  /** First pause of a chat whose limit was reached, ms. */
  readonly pairMs: number;
  readonly now: () => number;
  /** The account can send nothing until an operator acts: why. Undefined: it can. */
  readonly trouble: (reason: string | undefined) => void;
}

export interface Sending {
  send(message: OutboundMessage, signal?: AbortSignal): Promise<SendResult>;
  /** A person wrote in that chat: for 24 hours from then on it takes any text. @param sentAt Meta's clock, ms */
  heard(chat: string, sentAt: number): Promise<void>;
}

/** Where a message goes, in the words of POST /messages. */
type Recipient =
  | { readonly recipient_type: "individual"; readonly to: string }
  | { readonly recipient_type: "individual"; readonly recipient: string }
  | { readonly recipient_type: "group"; readonly to: string; readonly biz_opaque_callback_data: string };

const windowMs = 24 * 3_600_000;
/** Longest value of a template's parameter, UTF-16 units. */
const maxParameter = 1024;
/** What it must not hold. */
const unfit = /[\n\r\t]| {5}/;
const windowClosed = 131047;
/** Something in the message is invalid: it may be the quoted message, which is gone. */
const invalid = new Set([100, 131009]);

export function createSending(options: SendingOptions): Sending {
  const { api, phoneNumberId, people, store, lateTemplate, now } = options;
  /** How often in a row a chat's limit was reached. */
  const pairs = new Map<string, number>();

  async function recipientOf(message: OutboundMessage): Promise<Recipient | undefined> {
    const { chat, sender } = message;
    if (!/^[\x21-\x7e]{1,512}$/.test(chat)) return undefined;
    // Whose receipts count: see receipts.ts.
    if (message.group) return { recipient_type: "group", to: chat, biz_opaque_callback_data: sender };
    const known = await people.addressOf(chat);
    const phone = known ? known.phone : digitsOf(chat.split("~", 1)[0]);
    if (phone !== undefined) return { recipient_type: "individual", to: phone };
    const userId = known ? known.userId : chat;
    return userId === undefined ? undefined : { recipient_type: "individual", recipient: userId };
  }

  function post(recipient: Recipient, content: object, signal?: AbortSignal): Promise<Attempt<unknown>> {
    return api.post(`${phoneNumberId}/messages`, { messaging_product: "whatsapp", ...recipient, ...content }, signal);
  }

  async function sendText(recipient: Recipient, message: OutboundMessage, signal?: AbortSignal) {
    const content = { type: "text", text: { body: wellFormed(message.text), preview_url: false } };
    if (message.replyTo === undefined) return post(recipient, content, signal);
    const quoting = await post(recipient, { ...content, context: { message_id: message.replyTo } }, signal);
    const code = !quoting.ok && quoting.fault.kind === "refused" ? quoting.fault.code : undefined;
    return code !== undefined && invalid.has(code) ? post(recipient, content, signal) : quoting;
  }

  /** The answer with its notice as the late template's one parameter; undefined where the notice does not fit as it is. */
  function templateOf({ text, noticeFrom }: OutboundMessage): object | undefined {
    if (lateTemplate === undefined || noticeFrom === undefined) return undefined;
    const notice = wellFormed(text.slice(noticeFrom)).trim();
    if (notice.length > maxParameter || unfit.test(notice)) return undefined;
    const said = wellFormed(text.slice(0, noticeFrom)).replace(/\s+/g, " ").trim();
    const whole = [said, notice].filter((each) => each !== "").join(" ");
    const value = whole.length <= maxParameter ? whole : notice;
    const { name, language } = lateTemplate;
    const components = [{ type: "body", parameters: [{ type: "text", text: value }] }];
    return { type: "template", template: { name, language: { code: language }, components } };
  }

  /** Meta may take a text that comes too late, and say only later that it failed: so it is known here, too. */
  async function isOpen(chat: string): Promise<boolean> {
    return (await store.get(`window:${chat}`)) !== undefined;
  }

  function waitsOf(chat: string): Waits {
    return {
      troubleMs: options.troubleMs,
      pairMs() {
        const times = pairs.get(chat) ?? 0;
        pairs.set(chat, Math.min(times + 1, 4));
        return options.pairMs * 4 ** times;
      },
    };
  }

  async function send(message: OutboundMessage, signal?: AbortSignal): Promise<SendResult> {
    const { chat } = message;
    const recipient = await recipientOf(message);
    if (!recipient)
      return { status: "failed", code: "chat_not_found", reason: "Nobody can be reached under that name." };
    const template = templateOf(message);
    let attempt: Attempt<unknown>;
    if (template && !(await isOpen(chat))) {
      attempt = await post(recipient, template, signal);
    } else {
      attempt = await sendText(recipient, message, signal);
      const code = !attempt.ok && attempt.fault.kind === "refused" ? attempt.fault.code : undefined;
      if (template && code === windowClosed) attempt = await post(recipient, template, signal);
    }
    if (!attempt.ok) {
      const { result, trouble } = sendFaultOf(attempt.fault, waitsOf(chat));
      if (trouble !== undefined) options.trouble(trouble);
      return result;
    }
    const sent = sentMessage.safeParse(attempt.result);
    if (!sent.success) return sendFaultOf({ kind: "lost", code: "bad_answer", left: true }, waitsOf(chat)).result;
    pairs.delete(chat);
    options.trouble(undefined);
    await learnNumber(message, recipient, sent.data.contacts[0]?.wa_id);
    return { status: "accepted", ref: sent.data.messages[0].id };
  }

  /** Meta may call a number otherwise than it was told: with or without Brazil's ninth digit, say. */
  async function learnNumber(message: OutboundMessage, recipient: Recipient, waId: string | undefined): Promise<void> {
    const number = digitsOf(waId);
    if (message.group || number === undefined || !("to" in recipient) || number === recipient.to) return;
    await people.alsoCalled(message.chat, number, now()).catch(() => undefined);
  }

  return {
    async send(message, signal) {
      try {
        return await send(message, signal);
      } catch {
        // Only what is read before anything is sent can reject.
        return {
          status: "retry",
          code: "store_unavailable",
          reason: "Where the person is reached cannot be looked up.",
        };
      }
    },
    async heard(chat, sentAt) {
      if (lateTemplate === undefined) return;
      const left = sentAt + windowMs - now();
      if (left > 0) await store.set(`window:${chat}`, "open", left);
    },
  };
}
