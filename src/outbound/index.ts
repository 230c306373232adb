/**
 * Sends what turns have committed, and keeps what is known of each part. It never sends twice what may have arrived,
 * and tells the gate what became of a notice.
 */
export { deliveryRank, reduceDelivery } from "./delivery.js";
export type { Delivery, DeliveryEvent, DeliveryState, DeliveryStore, OutboundPart } from "./ports.js";
