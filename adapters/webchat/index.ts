/**
 * Webchat: a page of our own as a chat platform. It serves the page, knows each visitor by a cookie, takes what they
 * type, shows what is sent, and reports what their browser has rendered. Processes meet in the channel's log alone. It
 * refuses whatever another site's page asks of it, and never knows what an agent, a notice or a consent is.
 */
export { createWebchatAdapter, type WebchatTuning } from "./adapter.js";
export type { WebchatOptions } from "./options.js";
