import type { SlotStore } from "../gate/index.js";
import type { NoticeWatch } from "./notice-watch.js";
import type { DeliveryStore, OutboundPart } from "./ports.js";

export interface ResponseDeliveryOptions {
  readonly deliveries: DeliveryStore;
  readonly slots: SlotStore;
  readonly watch: NoticeWatch;
  readonly now: () => number;
}

/** An answer that goes back in an HTTP response: the response is its delivery. */
export interface ResponseDelivery {
  /**
   * To be called before the first byte.
   * @returns whether the notice of the part may still be shown; the proposal may be gone by now
   */
  begin(part: OutboundPart): Promise<boolean>;
  /** The response was handed over whole, or the connection broke before. */
  end(part: OutboundPart, handedOver: boolean): Promise<void>;
}

export function createResponseDelivery(options: ResponseDeliveryOptions): ResponseDelivery {
  const { deliveries, slots, watch, now } = options;
  return {
    async begin(part) {
      const at = now();
      let live = true;
      if (part.notice) {
        const { proposal } = part.notice;
        const outcome = await slots.apply(part.session, { type: "noticeSending", proposal, part: part.id, at });
        live = outcome.kind === "recorded";
      }
      await deliveries.apply(part.id, { type: "sending", part, ref: part.id, at });
      return live;
    },
    async end(part, handedOver) {
      const at = now();
      const proposal = part.notice?.proposal;
      if (!handedOver) {
        const code = "connection_closed";
        const reason = "The caller was gone before the response had been handed over.";
        await deliveries.apply(part.id, { type: "failed", code, reason, at });
        if (proposal) {
          const { session, id } = part;
          await slots.apply(session, { type: "noticeFailed", proposal, part: id, state: "failed", code, at });
        }
        return;
      }
      if (proposal) {
        await slots.apply(part.session, { type: "noticeSent", proposal, part: part.id, ref: part.id, at });
      }
      await deliveries.apply(part.id, { type: "accepted", ref: part.id, at });
      await watch.settled(part.id);
    },
  };
}
