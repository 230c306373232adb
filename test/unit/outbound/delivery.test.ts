import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Receipt, ReceiptLevel } from "../../../src/channels/index.js";
import { deliveryRank, reduceDelivery } from "../../../src/outbound/delivery.js";
import type { Delivery, DeliveryEvent, OutboundPart } from "../../../src/outbound/index.js";

const part: OutboundPart = {
  version: 1,
  id: "out-t-1-2",
  session: "telegram:bot:7:7",
  address: { channel: "telegram", account: "bot", chat: "7", sender: "7" },
  group: false,
  turn: "t-1",
  index: 2,
  of: 2,
  text: "Para confirmar respondé SI. ",
  notice: { proposal: "p-1", expiresAt: 9_000, from: 0 },
  createdAt: 1_000,
};

const queued: DeliveryEvent = { type: "queued", part, at: 1_000 };
const sending: DeliveryEvent = { type: "sending", part, at: 2_000 };
const accepted: DeliveryEvent = { type: "accepted", ref: "m-9", sentAt: 2_000, order: 9, at: 2_100 };
const retry: DeliveryEvent = { type: "retry", code: "rate_limited", reason: "Too fast.", at: 2_100 };
const failed: DeliveryEvent = { type: "failed", code: "blocked", reason: "Blocked.", at: 2_100 };
const unknown: DeliveryEvent = { type: "unknown", code: "timeout", reason: "No answer.", at: 2_100 };

function receipt(level: ReceiptLevel, at = 3_000, more: Partial<Receipt> = {}): DeliveryEvent {
  return { type: "receipt", receipt: { ref: "m-9", level, at, receivedAt: at + 50, ...more } };
}

function knownAfter(...events: readonly DeliveryEvent[]): Delivery {
  const record = events.reduce<Delivery | undefined>((before, event) => reduceDelivery(before, event), undefined);
  if (!record) throw new Error("no events");
  return record;
}

describe("what is known of a part", () => {
  it("begins with what the part says of itself", () => {
    expect(knownAfter(queued)).toEqual({
      version: 1,
      part: "out-t-1-2",
      session: "telegram:bot:7:7",
      turn: "t-1",
      channel: "telegram",
      account: "bot",
      index: 2,
      of: 2,
      notice: "p-1",
      state: "queued",
      attempts: 0,
      times: { queued: 1_000 },
    });
  });

  it("is made by `sending` too, where `queued` was lost", () => {
    expect(knownAfter(sending)).toMatchObject({
      state: "sending",
      attempts: 1,
      times: { queued: 2_000, sending: 2_000 },
    });
  });

  it("goes from queued over sending to accepted with the platform's id, time and place", () => {
    expect(knownAfter(queued, sending, accepted)).toMatchObject({
      state: "accepted",
      ref: "m-9",
      order: 9,
      attempts: 1,
      times: { queued: 1_000, sending: 2_000, accepted: 2_100 },
      platformTimes: { accepted: 2_000 },
    });
  });

  it("is not changed by being queued again", () => {
    const record = knownAfter(queued, sending, accepted);
    expect(reduceDelivery(record, queued)).toBe(record);
  });

  it("refuses to speak of a part of which nothing is known", () => {
    for (const event of [accepted, retry, failed, unknown, receipt("read")]) {
      expect(() => reduceDelivery(undefined, event)).toThrow(expect.objectContaining({ code: "delivery_unknown" }));
    }
  });
});

describe("a part that is to be sent", () => {
  it("waits again when the platform surely did not take it, and counts its attempts", () => {
    const waiting = knownAfter(queued, sending, retry);
    expect(waiting).toMatchObject({ state: "queued", attempts: 1, code: "rate_limited", reason: "Too fast." });
    const again = reduceDelivery(waiting, { ...sending, at: 4_000 });
    expect(again).toMatchObject({ state: "sending", attempts: 2, times: { sending: 4_000 } });
    expect(again.code).toBeUndefined();
  });

  it("keeps the id that was chosen for it when it waits again", () => {
    const chosen: DeliveryEvent = { type: "sending", part, ref: "m-9", at: 2_000 };
    expect(knownAfter(queued, chosen, retry)).toMatchObject({ state: "queued", ref: "m-9" });
  });

  it("is not sent while an earlier sending may have arrived, except under the same platform id", () => {
    const nameless = knownAfter(queued, sending);
    expect(reduceDelivery(nameless, { ...sending, at: 4_000 })).toBe(nameless);
    const named = knownAfter(queued, { type: "sending", part, ref: "m-9", at: 2_000 });
    expect(reduceDelivery(named, { type: "sending", part, ref: "m-10", at: 4_000 })).toBe(named);
    expect(reduceDelivery(named, { type: "sending", part, ref: "m-9", at: 4_000 })).toMatchObject({ attempts: 2 });
  });

  it("is not sent after it arrived, failed for good, or nobody knows", () => {
    for (const ending of [accepted, failed, unknown, receipt("delivered")]) {
      const ended = knownAfter(queued, sending, ending);
      expect(reduceDelivery(ended, { type: "sending", part, ref: "m-9", at: 4_000 })).toBe(ended);
      expect(reduceDelivery(ended, retry)).toBe(ended);
    }
  });

  it("is not sent again when a receipt shows that the refused attempt arrived after all", () => {
    const chosen: DeliveryEvent = { type: "sending", part, ref: "m-9", at: 2_000 };
    const arrived = knownAfter(queued, chosen, retry, receipt("delivered"));
    expect(arrived.state).toBe("delivered");
    expect(arrived.code).toBeUndefined();
    expect(reduceDelivery(arrived, { ...chosen, at: 5_000 })).toBe(arrived);
  });
});

describe("receipts", () => {
  it("raise the state, and a lower one that comes late lowers nothing", () => {
    const read = knownAfter(queued, sending, accepted, receipt("delivered"), receipt("read", 4_000));
    expect(read).toMatchObject({
      state: "read",
      times: { accepted: 2_100, delivered: 3_050, read: 4_050 },
      platformTimes: { accepted: 2_000, delivered: 3_000, read: 4_000 },
    });
    expect(reduceDelivery(read, receipt("delivered", 5_000))).toBe(read);
  });

  it("take read for delivered", () => {
    expect(knownAfter(queued, sending, accepted, receipt("read", 4_000))).toMatchObject({
      state: "read",
      times: { delivered: 4_050, read: 4_050 },
      platformTimes: { delivered: 4_000, read: 4_000 },
    });
  });

  it("do not date the taking by the platform's clock of an arrival", () => {
    const chosen: DeliveryEvent = { type: "sending", part, ref: "m-9", at: 2_000 };
    const record = knownAfter(queued, chosen, receipt("delivered"));
    expect(record).toMatchObject({ state: "delivered", times: { accepted: 3_050 } });
    expect(record.platformTimes).toEqual({ delivered: 3_000 });
  });

  it("may come before the send has returned", () => {
    const chosen: DeliveryEvent = { type: "sending", part, ref: "m-9", at: 2_000 };
    const late = knownAfter(queued, chosen, receipt("delivered"), { ...accepted, at: 9_000 });
    expect(late).toMatchObject({ state: "delivered", order: 9, platformTimes: { accepted: 2_000, delivered: 3_000 } });
  });

  it("settle what nobody knew", () => {
    const chosen: DeliveryEvent = { type: "sending", part, ref: "m-9", at: 2_000 };
    const settled = knownAfter(queued, chosen, unknown, receipt("delivered"));
    expect(settled.state).toBe("delivered");
    expect(settled.code).toBeUndefined();
    expect(knownAfter(queued, chosen, unknown, receipt("failed", 3_000, { code: "463", reason: "No." }))).toMatchObject(
      {
        state: "failed",
        code: "463",
        reason: "No.",
      },
    );
  });

  it("of failure override that the platform had taken it, never that it arrived", () => {
    expect(knownAfter(queued, sending, accepted, receipt("failed"))).toMatchObject({ state: "failed", code: "failed" });
    expect(knownAfter(queued, sending, accepted, receipt("failed"), receipt("accepted")).state).toBe("failed");
    const delivered = knownAfter(queued, sending, accepted, receipt("delivered"));
    expect(reduceDelivery(delivered, receipt("failed"))).toBe(delivered);
    expect(knownAfter(queued, sending, accepted, receipt("failed"), receipt("delivered"))).toMatchObject({
      state: "delivered",
    });
  });

  it("of another message change nothing", () => {
    const record = knownAfter(queued, sending, accepted);
    expect(reduceDelivery(record, receipt("read", 4_000, { ref: "m-10" }))).toBe(record);
  });
});

it("ranks what did not arrive below what did", () => {
  for (const missing of ["queued", "sending", "failed", "unknown"] as const) {
    expect(deliveryRank(missing)).toBeLessThan(deliveryRank("accepted"));
  }
  expect(deliveryRank("accepted")).toBeLessThan(deliveryRank("delivered"));
  expect(deliveryRank("delivered")).toBeLessThan(deliveryRank("read"));
});

describe("whatever happens", () => {
  const time = fc.integer({ min: 2_000, max: 9_000 });
  const anyReceipt = fc
    .record({ level: fc.constantFrom<ReceiptLevel>("accepted", "delivered", "read", "failed"), at: time })
    .map(({ level, at }) => receipt(level, at));
  const anyAccepted = fc
    .record({
      at: time,
      sentAt: fc.option(time, { nil: undefined }),
      order: fc.option(fc.constant(9), { nil: undefined }),
    })
    .map(
      ({ at, sentAt, order }): DeliveryEvent => ({
        type: "accepted",
        ref: "m-9",
        at,
        ...(sentAt === undefined ? {} : { sentAt }),
        ...(order === undefined ? {} : { order }),
      }),
    );
  const anySending = fc
    .record({ at: time, named: fc.boolean() })
    .map(({ at, named }): DeliveryEvent => ({ type: "sending", part, at, ...(named ? { ref: "m-9" } : {}) }));
  const anyEvent = fc.oneof(
    anyReceipt,
    anyAccepted,
    anySending,
    fc.constantFrom<DeliveryEvent>(queued, retry, failed, unknown),
  );
  const strength = ["queued", "sending", "unknown", "accepted", "failed", "delivered", "read"];

  it("moves only towards stronger words, and back to the queue only from sending", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        let record = knownAfter(queued);
        for (const event of events) {
          const next = reduceDelivery(record, event);
          const fell = strength.indexOf(next.state) < strength.indexOf(record.state);
          if (fell) expect([record.state, event.type, next.state]).toEqual(["sending", "retry", "queued"]);
          expect(next.attempts - record.attempts).toBe(next !== record && event.type === "sending" ? 1 : 0);
          record = next;
        }
      }),
    );
  });

  it("knows of no arrival without the levels below it, and gives a reason for nothing that arrived", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        const record = knownAfter(queued, ...events);
        const { accepted, delivered, read } = record.times;
        if (record.state === "read") expect(read).toBeDefined();
        if (read !== undefined) expect(delivered).toBeLessThanOrEqual(read);
        if (delivered !== undefined) expect(accepted).toBeLessThanOrEqual(delivered);
        if (deliveryRank(record.state) >= deliveryRank("accepted")) expect(record.code).toBeUndefined();
        if (record.state === "failed" || record.state === "unknown") expect(record.code).toBeDefined();
      }),
    );
  });

  it("comes to the same record in whatever order the platform's words arrive", () => {
    const words = fc.array(fc.oneof(anyReceipt.filter(isNoFailure), anyAccepted), { minLength: 1, maxLength: 6 });
    const shuffled = words.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const chosen: DeliveryEvent = { type: "sending", part, ref: "m-9", at: 2_000 };
        expect(knownAfter(queued, chosen, ...one)).toEqual(knownAfter(queued, chosen, ...other));
      }),
    );
  });

  it("ends in the same state in whatever order they arrive, failures included", () => {
    const words = fc.array(fc.oneof(anyReceipt, anyAccepted), { minLength: 1, maxLength: 6 });
    const shuffled = words.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        expect(knownAfter(queued, sending, ...one).state).toBe(knownAfter(queued, sending, ...other).state);
      }),
    );
  });

  it("changes nothing when the same is said twice", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 20 }), fc.oneof(anyReceipt, anyAccepted), (events, event) => {
        const once = reduceDelivery(knownAfter(queued, ...events), event);
        expect(reduceDelivery(once, event)).toBe(once);
      }),
    );
  });
});

function isNoFailure(event: DeliveryEvent): boolean {
  return !(event.type === "receipt" && event.receipt.level === "failed");
}
