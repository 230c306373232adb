import type { ChannelLogger, Receipt } from "../channels/index.js";
import type { NoticeLevel, SlotStore } from "../gate/index.js";
import { deliveryRank } from "./delivery.js";
import type { Delivery, DeliveryStore } from "./ports.js";

export interface NoticeWatchOptions {
  readonly deliveries: DeliveryStore;
  readonly slots: SlotStore;
  /** From which level on a notice of this account counts as delivered. */
  readonly levelOf: (channel: string, account: string) => NoticeLevel;
  readonly logger: ChannelLogger;
  readonly now: () => number;
}

/** Follows what platforms say of sent parts, and tells the gate when a notice, with all of its answer, has arrived. */
export interface NoticeWatch {
  /** Takes over one receipt; one for a message that is not known yet waits until the send has returned. */
  receipt(channel: string, account: string, receipt: Receipt): Promise<void>;
  /** Applies the receipts that came before the platform's id was known. */
  claimParked(channel: string, account: string, ref: string): Promise<void>;
  /** A part has reached a new state: does that complete an answer with a notice? */
  settled(part: string): Promise<void>;
}

export function createNoticeWatch(options: NoticeWatchOptions): NoticeWatch {
  const { deliveries, slots, now } = options;

  async function apply(part: string, receipt: Receipt): Promise<void> {
    const { before, after } = await deliveries.apply(part, { type: "receipt", receipt });
    if (before?.state === after.state) return;
    await (after.state === "failed" ? failed(after) : settled(part));
  }

  /** A part that failed after all takes the notice of its answer with it. */
  async function failed(delivery: Delivery): Promise<void> {
    const notice = await noticePart(delivery);
    if (!notice?.notice) return;
    await slots.apply(notice.session, {
      type: "noticeFailed",
      proposal: notice.notice,
      part: notice.part,
      state: "failed",
      code: delivery.code ?? "failed",
      at: now(),
    });
  }

  async function settled(part: string): Promise<void> {
    const delivery = await deliveries.read(part);
    if (!delivery) return;
    const notice = await noticePart(delivery);
    if (!notice?.notice) return;
    const answer = delivery.of === 1 ? [delivery] : await deliveries.ofTurn(delivery.turn);
    const lowest = lowestLevel(answer, delivery.of);
    if (!lowest || deliveryRank(lowest) < deliveryRank(options.levelOf(delivery.channel, delivery.account))) return;
    const arrivals = answer.flatMap((each) => arrivedAt(each) ?? []);
    await slots.apply(notice.session, {
      type: "noticeDelivered",
      proposal: notice.notice,
      part: notice.part,
      level: lowest,
      ...(arrivals.length > 0 ? { deliveredAt: Math.max(...arrivals) } : {}),
      at: now(),
    });
  }

  /** The part of the same answer that carries a notice: always the last. */
  async function noticePart(delivery: Delivery): Promise<Delivery | undefined> {
    if (delivery.index === delivery.of) return delivery;
    return (await deliveries.ofTurn(delivery.turn)).find((each) => each.index === each.of);
  }

  async function claimParked(channel: string, account: string, ref: string): Promise<void> {
    const receipts = await deliveries.parked(channel, account, ref);
    if (receipts.length === 0) return;
    const part = await deliveries.partOf(channel, account, ref);
    for (const receipt of receipts) {
      if (part) await apply(part, receipt);
    }
  }

  return {
    claimParked,
    settled,
    async receipt(channel, account, receipt) {
      const part = await deliveries.partOf(channel, account, receipt.ref);
      if (part) return apply(part, receipt);
      await deliveries.park(channel, account, receipt);
      // The send may have returned between the look and the parking: then nobody else would claim it.
      if (await deliveries.partOf(channel, account, receipt.ref)) await claimParked(channel, account, receipt.ref);
    },
  };
}

function lowestLevel(answer: readonly Delivery[], of: number): NoticeLevel | undefined {
  if (answer.length < of) return undefined;
  const lowest = answer.reduce((least, each) => (deliveryRank(each.state) < deliveryRank(least.state) ? each : least));
  return lowest.state === "accepted" || lowest.state === "delivered" || lowest.state === "read"
    ? lowest.state
    : undefined;
}

/** When it arrived by the platform's clock: only platforms that report delivery say so. */
function arrivedAt(delivery: Delivery): number | undefined {
  return delivery.platformTimes?.delivered ?? delivery.platformTimes?.read;
}
