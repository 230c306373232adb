import type { Receipt } from "../channels/index.js";
import { DaleError } from "../errors/index.js";
import type { Delivery, DeliveryEvent, DeliveryState, OutboundPart } from "./ports.js";

/**
 * How far towards the person a part is known to have come; larger is further. `failed` and `unknown` stand below
 * `accepted`: neither shows that anything arrived.
 */
export function deliveryRank(state: DeliveryState): number {
  return distance[state];
}

const distance: Readonly<Record<DeliveryState, number>> = {
  queued: 0,
  sending: 1,
  failed: 2,
  unknown: 3,
  accepted: 4,
  delivered: 5,
  read: 6,
};

/**
 * Which word stands when two things are said of one message, in any order: the later in this list. A platform's word
 * settles `unknown`; `failed` overrides that the platform had taken it; and that it arrived overrides everything.
 */
const wordsInForce: readonly DeliveryState[] = [
  "queued",
  "sending",
  "unknown",
  "accepted",
  "failed",
  "delivered",
  "read",
];

/**
 * What one event makes of what is known of a part. Pure; the same object when nothing changed. States only move towards
 * stronger words, in whatever order events come, but for `retry`, which takes `sending` back to `queued`.
 *
 * `sending` answers the same object wherever the part must not be handed to the platform (again): it may have arrived,
 * or has failed for good. One that is being sent already may be sent again only under the same platform id.
 * @throws DaleError `delivery_unknown` for an event on a part of which nothing is known (any more)
 */
export function reduceDelivery(before: Delivery | undefined, event: DeliveryEvent): Delivery {
  if (event.type === "queued") return before ?? queued(event.part, event.at);
  if (event.type === "sending") return sending(before ?? queued(event.part, event.at), event.ref, event.at);
  if (!before) {
    throw new DaleError("delivery_unknown", "Nothing is known of this outbound part (any more).");
  }
  switch (event.type) {
    case "accepted":
      return accepted(before, event);
    case "retry":
      if (before.state !== "sending") return before;
      return { ...before, state: "queued", code: event.code, reason: event.reason };
    case "failed":
    case "unknown": {
      const state = stronger(before.state, event.type);
      if (state === before.state) return before;
      return { ...before, state, times: at(before, state, event.at), code: event.code, reason: event.reason };
    }
    case "receipt":
      return received(before, event.receipt);
  }
}

function queued(part: OutboundPart, at: number): Delivery {
  return {
    version: 1,
    part: part.id,
    session: part.session,
    turn: part.turn,
    channel: part.address.channel,
    account: part.address.account,
    index: part.index,
    of: part.of,
    ...(part.notice ? { notice: part.notice.proposal } : {}),
    state: "queued",
    attempts: 0,
    times: { queued: at },
  };
}

function sending(before: Delivery, ref: string | undefined, at: number): Delivery {
  const repeats = before.state === "sending" && ref !== undefined && ref === before.ref;
  if (before.state !== "queued" && !repeats) return before;
  return {
    ...without(before),
    state: "sending",
    attempts: before.attempts + 1,
    times: { ...before.times, sending: at },
    ...(ref === undefined ? {} : { ref }),
  };
}

function accepted(before: Delivery, event: Extract<DeliveryEvent, { type: "accepted" }>): Delivery {
  const known = arrivedAtLevel(before, "accepted", event.at, event.sentAt);
  const order = event.order ?? before.order;
  if (known === before && before.ref === event.ref && before.order === order) return before;
  return { ...known, ref: event.ref, ...(order === undefined ? {} : { order }) };
}

function received(before: Delivery, receipt: Receipt): Delivery {
  if (before.ref !== undefined && before.ref !== receipt.ref) return before;
  const known =
    receipt.level === "failed"
      ? refused(before, receipt)
      : arrivedAtLevel(before, receipt.level, receipt.receivedAt, receipt.at);
  return known === before || before.ref !== undefined ? known : { ...known, ref: receipt.ref };
}

function refused(before: Delivery, receipt: Receipt): Delivery {
  const state = stronger(before.state, "failed");
  if (state === before.state) return before;
  return {
    ...before,
    state,
    times: at(before, "failed", receipt.receivedAt),
    code: receipt.code ?? "failed",
    reason: receipt.reason ?? "The platform reported that the message was not delivered.",
  };
}

type Level = "accepted" | "delivered" | "read";
/** `read` implies `delivered` implies `accepted`. */
const levels: readonly Level[] = ["accepted", "delivered", "read"];

/**
 * The platform's word that the part reached a level. Times of a level are the earliest that are known, so that the
 * order of receipts does not matter. When it was taken by the platform's clock follows from no later level.
 */
function arrivedAtLevel(before: Delivery, level: Level, ourTime: number, platformTime: number | undefined): Delivery {
  const implied = levels.slice(0, levels.indexOf(level) + 1);
  const times = earliest(before.times, implied, ourTime);
  const datable = implied.filter((each) => each === level || each === "delivered");
  const platformTimes =
    platformTime === undefined ? before.platformTimes : earliest(before.platformTimes ?? {}, datable, platformTime);
  const state = stronger(before.state, level);
  if (state === before.state && times === before.times && platformTimes === before.platformTimes) return before;
  return {
    ...(state === "failed" ? before : without(before)),
    state,
    times,
    ...(platformTimes ? { platformTimes } : {}),
  };
}

function earliest<Key extends string>(
  known: Readonly<Partial<Record<Key, number>>>,
  keys: readonly Key[],
  time: number,
): Readonly<Partial<Record<Key, number>>> {
  const news = keys.filter((key) => time < (known[key] ?? Number.POSITIVE_INFINITY));
  if (news.length === 0) return known;
  return { ...known, ...Object.fromEntries(news.map((key) => [key, time])) };
}

function at(before: Delivery, state: DeliveryState, time: number): Delivery["times"] {
  return { ...before.times, [state]: time };
}

/** Without the reason of a failure that is overcome. */
function without(delivery: Delivery): Delivery {
  const { code: _code, reason: _reason, ...rest } = delivery;
  return rest;
}

function stronger(one: DeliveryState, other: DeliveryState): DeliveryState {
  return wordsInForce.indexOf(other) > wordsInForce.indexOf(one) ? other : one;
}
