/**
 * WhatsApp, as a linked device (Baileys): pairs by QR code or by code, keeps one connection for the account in whichever
 * process holds its lease, receives and sends texts. A message is written down before WhatsApp is told that it arrived,
 * the turn of a Signal ratchet before its message leaves, and nothing is sent twice. It takes nothing for typed that a
 * person did not type into the chat, keeps no conversation, and speaks to no server but WhatsApp's.
 *
 * tenure.ts  the time for which the account is ours: visit.ts and line.ts are one connection of it
 * incoming   journal.ts (written down), mailroom.ts (in order), receiving.ts (as the host takes it)
 * outgoing   sending.ts, pacing.ts; receipts.ts what became of it
 * keys       device-state.ts, signal-repository.ts, sealing.ts, fenced-writer.ts
 */
export { createWhatsappAdapter, type WhatsappAdapter } from "./adapter.js";
export { type WhatsappOptions, type WhatsappTiming, whatsappOptions } from "./options.js";
