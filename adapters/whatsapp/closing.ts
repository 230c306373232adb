/** What a connection that has ended means for the account. */
export type AfterClosing =
  /** Connect again: `now`, or after a pause that grows. */
  | { readonly kind: "reconnect"; readonly when: "now" | "later"; readonly reason: string }
  /** Somebody else uses the link: only whoever is given the account's lease anew may connect. */
  | { readonly kind: "yield"; readonly reason: string }
  /** The phone has ended the link: what belonged to it is of no use any more. */
  | { readonly kind: "unlinked"; readonly reason: string }
  /** Nobody scanned the code: another one is shown when it is asked for. */
  | { readonly kind: "unscanned"; readonly reason: string }
  /** It would be refused again: a person has to do something. */
  | { readonly kind: "halt"; readonly reason: string };

export interface Closing {
  /** Baileys' code; 500 is what it makes of everything that it does not know. */
  readonly code: number;
  /** Whether a phone had linked the device. */
  readonly linked: boolean;
  /** Whether a code to scan was shown on this connection. */
  readonly shown: boolean;
  /** How often in a row it ended with 405, this time included. */
  readonly refusals: number;
}

/** A client that is too old may be let in again while WhatsApp rolls a version out. */
const mostRefusals = 5;

/** Codes as Baileys 7.0.0-rc14 gives them, and as WhatsApp's `failure` stanza does. */
export function afterClosing(closing: Closing): AfterClosing {
  const { code, linked } = closing;
  const later = (reason: string): AfterClosing => ({ kind: "reconnect", when: "later", reason });
  switch (code) {
    case 515:
      return { kind: "reconnect", when: "now", reason: "WhatsApp asked to connect again." };
    case 440:
      return { kind: "yield", reason: "Another client has taken over this account's connection." };
    case 401:
      return linked
        ? { kind: "unlinked", reason: "Logged out on the phone" }
        : later("WhatsApp did not accept the pairing; trying once more.");
    case 402:
      return { kind: "halt", reason: "WhatsApp has banned this account for some time (402): look at the phone." };
    case 403:
    case 406:
      return {
        kind: "halt",
        reason: `WhatsApp refuses this account (${code}): it is banned, locked, or its phone was logged out. Look at the phone, then pair again.`,
      };
    case 411:
      return {
        kind: "halt",
        reason: "The phone's WhatsApp does not allow linked devices (411): update it there, then pair again.",
      };
    case 405:
    case 409:
      return closing.refusals < mostRefusals
        ? later(`WhatsApp takes this client for too old (${code}); trying again.`)
        : { kind: "halt", reason: `WhatsApp no longer lets this client in (${code}): update Dale.` };
    case 408:
      if (!linked && closing.shown) return { kind: "unscanned", reason: "Nobody scanned the code in time." };
      return later("WhatsApp does not answer.");
    case 428:
      return later("The connection to WhatsApp was lost.");
    case 503:
      return later("WhatsApp is unavailable for the moment.");
    default:
      return later(`The connection to WhatsApp failed (${code}).`);
  }
}
