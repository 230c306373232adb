/**
 * WhatsApp, as a linked device (Baileys): pairs by QR code or by code, keeps one connection for the account in whichever
 * process holds its lease, receives and sends texts. A message is written down before WhatsApp is told that it arrived,
 * and is sent at most once. It takes nothing for typed that a person did not type into the chat, keeps no conversation,
 * and speaks to no server but WhatsApp's.
 */
export { createWhatsappAdapter, type WhatsappAdapter } from "./adapter.js";
export { type WhatsappOptions, type WhatsappTiming, whatsappOptions } from "./options.js";
