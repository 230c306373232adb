import { jidDecode } from "@whiskeysockets/baileys";

/**
 * A person's address without the device that they use: `<digits>@s.whatsapp.net` (their phone number) or `<digits>@lid`
 * (an id that hides it). Undefined for whatever is no person: groups, channels, status, bots. Addresses come with a
 * device, with an explicit device 0, as `c.us`, or as `hosted`: all of them are the same person.
 */
export function personOf(jid: string | null | undefined): string | undefined {
  const decoded = jidDecode(jid ?? undefined);
  if (!decoded || !/^\d{1,20}$/.test(decoded.user)) return undefined;
  switch (decoded.server) {
    case "s.whatsapp.net":
    case "c.us":
    case "hosted":
      return `${decoded.user}@s.whatsapp.net`;
    case "lid":
    case "hosted.lid":
      return `${decoded.user}@lid`;
    default:
      return undefined;
  }
}

export function isLid(person: string): boolean {
  return person.endsWith("@lid");
}

export function isGroup(jid: string): boolean {
  return /^[\d-]{1,40}@g\.us$/.test(jid);
}

/** The digits of an address. */
export function userOf(person: string): string {
  return person.slice(0, person.indexOf("@"));
}
