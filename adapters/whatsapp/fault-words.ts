import type { SendResult } from "../../src/channels/index.js";

type Refusal = Exclude<SendResult, { status: "accepted" }>;

/** What WhatsApp's error in an acknowledgement comes to. */
export function refusalOf(error: string): Refusal {
  switch (error) {
    case "429":
      return { status: "retry", code: "rate_limited", reason: "WhatsApp asks to send more slowly.", afterMs: 60_000 };
    case "463":
      return {
        status: "failed",
        code: "account_restricted",
        reason:
          "WhatsApp has restricted this account: it may answer in chats that exist, and begin no new ones (463). Let people write first, and send less for some days.",
      };
    case "479":
      return {
        status: "failed",
        code: "stale_session",
        reason:
          "WhatsApp refused the message as malformed (479): mostly the person's phone has changed. If it goes on, pair the account again.",
      };
    case "404":
      return notOnWhatsapp;
    case "401":
    case "403":
      return {
        status: "failed",
        code: "forbidden",
        reason: `WhatsApp does not let this account write there (${error}).`,
      };
    default:
      break;
  }
  // WhatsApp's own failure says nothing about how far it came.
  if (/^5\d\d$/.test(error)) {
    return { status: "unknown", code: "server_error", reason: `WhatsApp failed with ${error}, and may have sent it.` };
  }
  const code = /^\d{1,4}$/.test(error) ? error : "unknown";
  return { status: "failed", code: "rejected", reason: `WhatsApp refused the message (error ${code}).` };
}

export const notOnWhatsapp = {
  status: "failed",
  code: "not_on_whatsapp",
  reason: "That number is not on WhatsApp, or no longer.",
} as const;

export const blocked = {
  status: "failed",
  code: "blocked",
  reason: "The account's owner has blocked this person on the phone: unblock them there to write to them.",
} as const;

export const notInGroup = {
  status: "failed",
  code: "not_in_group",
  reason: "The account is not in that group, or no longer.",
} as const;

export const noSuchChat = { status: "failed", code: "chat_not_found", reason: "That is no chat of WhatsApp." } as const;

export const retry = {
  notConnected: {
    status: "retry",
    code: "not_connected",
    reason: "The account is not connected to WhatsApp right now.",
    afterMs: 2_000,
  },
  notPrepared: {
    status: "retry",
    code: "no_answer",
    reason: "WhatsApp did not say which phones the person has: nothing was sent.",
  },
  store: { status: "retry", code: "store_unavailable", reason: "The store is away: nothing was sent." },
  aborted: { status: "retry", code: "aborted", reason: "It was called off before it was sent." },
  notEncrypted: {
    status: "retry",
    code: "not_encrypted",
    reason: "The message could not be encrypted for any of the person's phones: nothing was sent.",
  },
} as const satisfies Record<string, Refusal>;

/** It was written to the connection, or may have been, and no word came back. */
export function unknownOf(ref: string, code: "no_answer" | "connection_lost" | "aborted"): Refusal {
  const reasons = {
    no_answer: "WhatsApp may have sent it: it never said so.",
    connection_lost: "The connection was lost while it was being sent: it may have been.",
    aborted: "It was called off while it was being sent: it may have been.",
  };
  return { status: "unknown", code, reason: reasons[code], ref };
}
