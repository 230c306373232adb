/**
 * WhatsApp through Meta's Cloud API: receives by webhook, and sends plain text. A webhook call is acknowledged only after
 * everything in it is durably written; a message that may have been sent is never sent again. It takes nothing for typed
 * that a person did not type into the chat, matches nobody by their name, and keeps no messages and no media.
 */
export { createWhatsappCloudAdapter, type WhatsappCloudAdapter } from "./adapter.js";
export type { WhatsappCloudOptions, WhatsappCloudTiming } from "./options.js";
export type { Sibling } from "./receiving.js";
