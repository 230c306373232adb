/**
 * Sends what turns have committed, and keeps what is known of each part. It never sends twice what may have arrived,
 * and tells the gate what became of a notice.
 */
export { reduceDelivery } from "./delivery.js";
export { createNoticeWatch, type NoticeWatch } from "./notice-watch.js";
export { parseOutboundPart, partId } from "./parts.js";
export type { Delivery, DeliveryEvent, DeliveryState, DeliveryStore, OutboundPart } from "./ports.js";
export { createResponseDelivery, type ResponseDelivery } from "./response-delivery.js";
export { createSender, type Sender, type SendLimiter } from "./sender.js";
