import type { SendResult } from "../../src/channels/index.js";
import type { Fault } from "./graph-api.js";

/**
 * What one of Meta's codes means for a message.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 */
interface Meaning {
  /** `final`: it will never arrive. `wait`: too fast, or not now. `account`: nothing goes out until somebody acts. */
  readonly kind: "final" | "wait" | "account";
  readonly code: string;
  readonly reason: string;
  readonly afterMs?: number;
}

const final = (code: string, reason: string): Meaning => ({ kind: "final", code, reason });
const wait = (code: string, reason: string, afterMs: number): Meaning => ({ kind: "wait", code, reason, afterMs });
const account = (code: string, reason: string): Meaning => ({ kind: "account", code, reason });

export const tokenRefused = "Meta refuses the access token: it has run out, was revoked, or is wrong. Set a new one.";
const notAllowed = "The access token may not send for this number: give its system user full control of the account.";
const noSuchNumber = "Meta knows no such phone_number_id, or the access token may not see it.";

const meanings: Readonly<Record<number, Meaning>> = {
  0: account("unauthorized", tokenRefused),
  3: account("forbidden", notAllowed),
  4: wait("rate_limited", "The app calls Meta too often.", 60_000),
  10: account("forbidden", notAllowed),
  33: account("number_unknown", noSuchNumber),
  190: account("unauthorized", tokenRefused),
  368: account(
    "account_blocked",
    "Meta has blocked the account for breaking its rules: see the account's quality page.",
  ),
  80007: wait("rate_limited", "The business account calls Meta too often.", 60_000),
  130429: wait("rate_limited", "The number sends more than its throughput allows.", 2_000),
  130472: final("experiment", "The person is part of an experiment of Meta's, and gets no such message."),
  131005: account("forbidden", notAllowed),
  131008: final("rejected", "Meta misses something in the message."),
  131009: final("rejected", "Meta finds something in the message invalid."),
  131021: final("own_number", "The number cannot write to itself."),
  131026: final(
    "undeliverable",
    "It cannot be delivered: the person is not on WhatsApp, has an old version, has not taken its terms, or has blocked the number.",
  ),
  131030: final("not_allowed", "A test number writes only to numbers on its list: add the person's in Meta's console."),
  131031: account("account_locked", "Meta has locked the account: see the account's quality page."),
  131037: account("name_not_approved", "The number's display name has not been approved yet."),
  131042: account("payment", "The account's payment method has a problem: see the billing settings in Meta's console."),
  131045: account("not_registered", "The number is not registered with the Cloud API."),
  131047: final(
    "window_closed",
    "The person last wrote more than 24 hours ago, and then only a template may be sent: set late_template, or wait until they write.",
  ),
  131048: final(
    "spam_limited",
    "Meta limits the number, because people blocked it or reported it: see its quality rating.",
  ),
  131049: final("not_delivered", "Meta chose not to deliver it, to keep down how much the person is sent."),
  131050: final("opted_out", "The person wants no marketing messages of this business."),
  131051: final("rejected", "Meta does not send that type of message."),
  131053: final("rejected", "Meta could not take up the media of the message."),
  131057: wait("maintenance", "The account is being maintained by Meta.", 60_000),
  131062: final("bsuid_unsupported", "This message needs the person's phone number, and Meta does not tell it."),
  133004: wait("unavailable", "Meta is not available at the moment.", 10_000),
  133010: account("not_registered", "The number is not registered with the Cloud API."),
};

/** Meta failed, and may have sent it all the same. */
const ownFailures = new Set([1, 2, 131000, 131016]);
/** Too many messages to one person. */
const pairLimit = 131056;

export interface SendFault {
  readonly result: Exclude<SendResult, { status: "accepted" }>;
  /** Nothing goes out on this account until an operator acts: why. */
  readonly trouble?: string;
}

export interface Waits {
  /** While the account cannot send, ms. */
  readonly troubleMs: number;
  /** How long the chat is left alone after its limit was reached, ms. */
  pairMs(): number;
}

/** What a send came to, when it was not accepted. */
export function sendFaultOf(fault: Fault, waits: Waits): SendFault {
  if (fault.kind === "lost") {
    return {
      result: fault.left
        ? { status: "unknown", code: fault.code, reason: "Meta may have sent it: its answer never came." }
        : { status: "retry", code: fault.code, reason: "Meta cannot be reached." },
    };
  }
  const { status, code, retryAfterMs } = fault;
  // A failure of Meta's own says nothing about how far it came.
  if (status >= 500 || (code !== undefined && ownFailures.has(code))) {
    return {
      result: {
        status: "unknown",
        code: "server_error",
        reason: `Meta failed with ${code ?? status}, and may have sent it.`,
      },
    };
  }
  if (code === pairLimit) {
    const reason = "The person was sent too many messages in a short time.";
    return { result: { status: "retry", code: "pair_rate_limited", reason, afterMs: retryAfterMs ?? waits.pairMs() } };
  }
  const meaning = meaningOf(fault);
  if (meaning === undefined) {
    const words = fault.message === undefined ? "" : ` (${fault.message})`;
    const reason = `Meta refused it with error ${code ?? status}${words}.`;
    return { result: { status: "failed", code: code === undefined ? "rejected" : `meta_${code}`, reason } };
  }
  const { reason } = meaning;
  if (meaning.kind === "final") return { result: { status: "failed", code: meaning.code, reason } };
  const afterMs = retryAfterMs ?? meaning.afterMs ?? waits.troubleMs;
  return {
    result: { status: "retry", code: meaning.code, reason, afterMs },
    ...(meaning.kind === "account" ? { trouble: reason } : {}),
  };
}

/** Whether Meta refuses the access token itself, whatever it was asked: why. */
export function tokenTroubleOf(fault: Fault): string | undefined {
  const meaning = fault.kind === "refused" && fault.status < 500 ? meaningOf(fault) : undefined;
  return meaning?.code === "unauthorized" ? meaning.reason : undefined;
}

function meaningOf({ status, code, subcode }: Extract<Fault, { kind: "refused" }>): Meaning | undefined {
  if (code === 100 && subcode === 33) return meanings[33];
  if (code !== undefined && Object.hasOwn(meanings, code)) return meanings[code];
  if (code !== undefined && code >= 200 && code < 300) return meanings[10];
  if (status === 429) return meanings[4];
  if (status === 401) return meanings[190];
  // Not the words of the Graph API: something else answers at that address.
  if (code === undefined && (status === 404 || (status >= 300 && status < 400))) {
    return account(
      "graph_url",
      `At graph_url something answers ${status}: it must be the Graph API, with its version.`,
    );
  }
  return undefined;
}

/** What a `failed` status tells an operator. */
export function deliveryFailure(code: number | undefined): { readonly code: string; readonly reason: string } {
  if (code === undefined) return { code: "failed", reason: "Meta reported that the message was not delivered." };
  if (code === pairLimit) {
    return { code: "pair_rate_limited", reason: "The person was sent too many messages in a short time." };
  }
  const meaning = Object.hasOwn(meanings, code) ? meanings[code] : undefined;
  if (meaning) return { code: meaning.code, reason: meaning.reason };
  return { code: `meta_${code}`, reason: `Meta reported that the message was not delivered (error ${code}).` };
}
