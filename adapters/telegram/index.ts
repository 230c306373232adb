/**
 * Telegram, through the Bot API: receives by long polling or by webhook, and sends plain text. An update is acknowledged
 * only after its message is durably enqueued; a message that may have been sent is never sent again. It keeps no
 * messages, shows no keyboards, and takes nothing for typed that a person did not type into the chat.
 */
export { createTelegramAdapter, type TelegramAdapter } from "./adapter.js";
export type { TelegramOptions, TelegramTiming } from "./options.js";
