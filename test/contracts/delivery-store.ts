import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Receipt } from "../../src/channels/index.js";
import type { DeliveryEvent, DeliveryStore, OutboundPart } from "../../src/outbound/index.js";

export interface DeliveryStoreRig {
  /** The store in one more process. */
  open(): DeliveryStore;
  /** The part that was last handed to the platform for a chat (`<channel>:<account>:<chat>`), as the gate's store sees it. */
  lastSent(chat: string): Promise<string | undefined>;
  close(): Promise<void>;
}

export function outboundPart(turn: string, index: number, of: number, more: Partial<OutboundPart> = {}): OutboundPart {
  return {
    version: 1,
    id: `out-${turn}-${index}`,
    session: "telegram:bot:7:7",
    address: { channel: "telegram", account: "bot", chat: "7", sender: "7" },
    group: false,
    turn,
    index,
    of,
    text: "hola",
    createdAt: 1_000,
    ...more,
  };
}

const queued = (part: OutboundPart, at = 1_000): DeliveryEvent => ({ type: "queued", part, at });
const sending = (part: OutboundPart, ref?: string): DeliveryEvent => ({
  type: "sending",
  part,
  at: 2_000,
  ...(ref === undefined ? {} : { ref }),
});
const accepted = (ref: string): DeliveryEvent => ({ type: "accepted", ref, sentAt: 2_000, order: 9, at: 2_100 });

function receipt(ref: string, level: Receipt["level"], at = 3_000): Receipt {
  return { ref, level, at, receivedAt: at + 50 };
}

/** What a DeliveryStore keeps. What events come to is the reducer's business, and tested there. */
export function deliveryStoreContract(title: string, create: () => Promise<DeliveryStoreRig>): void {
  describe(`delivery store: ${title}`, () => {
    let rig: DeliveryStoreRig;
    let store: DeliveryStore;

    beforeEach(async () => {
      rig = await create();
      store = rig.open();
    });
    afterEach(() => rig.close());

    async function send(part: OutboundPart, ref: string) {
      for (const event of [queued(part), sending(part), accepted(ref)]) await store.apply(part.id, event);
    }

    it("answers what was known before and what is known now, and any process reads it", async () => {
      const part = outboundPart("t-1", 1, 1);
      expect(await store.read(part.id)).toBeUndefined();
      const first = await store.apply(part.id, queued(part));
      expect(first).toMatchObject({ after: { part: part.id, state: "queued", attempts: 0 } });
      expect(first.before).toBeUndefined();
      const second = await store.apply(part.id, sending(part));
      expect(second.before).toEqual(first.after);
      expect(second.after).toMatchObject({ state: "sending", attempts: 1 });
      expect(await rig.open().read(part.id)).toEqual(second.after);
    });

    it("answers the same record twice when nothing changed", async () => {
      const part = outboundPart("t-1", 1, 1);
      await send(part, "m-1");
      const { before, after } = await store.apply(part.id, queued(part));
      expect(after).toBe(before);
    });

    it("refuses what is said of a part that it does not know", async () => {
      const missing = expect.objectContaining({ code: "delivery_unknown" });
      await expect(store.apply("out-t-404-1", accepted("m-1"))).rejects.toEqual(missing);
    });

    it("lets one of several senders have a part", async () => {
      const part = outboundPart("t-1", 1, 1);
      await store.apply(part.id, queued(part));
      const tries = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const { before, after } = await rig.open().apply(part.id, sending(part));
          return before !== after;
        }),
      );
      expect(tries.filter(Boolean)).toHaveLength(1);
    });

    it("loses none of many receipts that come at once", async () => {
      const part = outboundPart("t-1", 1, 1);
      await send(part, "m-1");
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          rig
            .open()
            .apply(part.id, { type: "receipt", receipt: receipt("m-1", n % 2 ? "read" : "delivered", 3_000 + n) }),
        ),
      );
      expect(await store.read(part.id)).toMatchObject({
        state: "read",
        platformTimes: { delivered: 3_000, read: 3_001 },
      });
    });

    it("makes a part the last one sent to its chat when it is about to be sent, and not before", async () => {
      const [first, second] = [outboundPart("t-1", 1, 2), outboundPart("t-1", 2, 2)];
      await store.apply(first.id, queued(first));
      expect(await rig.lastSent("telegram:bot:7")).toBeUndefined();
      await store.apply(first.id, sending(first));
      expect(await rig.lastSent("telegram:bot:7")).toBe(first.id);
      await store.apply(second.id, queued(second));
      expect(await rig.lastSent("telegram:bot:7")).toBe(first.id);
      await store.apply(second.id, sending(second, "m-2"));
      expect(await rig.lastSent("telegram:bot:7")).toBe(second.id);
      const member = outboundPart("t-2", 1, 1, { session: "telegram:bot:7:8" });
      await store.apply(member.id, sending(member));
      expect(await rig.lastSent("telegram:bot:7")).toBe(member.id);
      expect(await rig.lastSent("telegram:bot:8")).toBeUndefined();
    });

    it("does not bury a notice under a part that is not sent after all", async () => {
      const [older, notice] = [outboundPart("t-1", 1, 1), outboundPart("t-2", 1, 1)];
      await send(older, "m-1");
      await send(notice, "m-2");
      await store.apply(older.id, sending(older));
      expect(await rig.lastSent("telegram:bot:7")).toBe(notice.id);
    });

    it("finds a part by its platform id within its account", async () => {
      const part = outboundPart("t-1", 1, 1);
      await send(part, "7:1");
      expect(await rig.open().partOf("telegram", "bot", "7:1")).toBe(part.id);
      expect(await store.partOf("telegram", "other", "7:1")).toBeUndefined();
      expect(await store.partOf("telegram", "bot", "7:2")).toBeUndefined();
    });

    it("knows of no last message in a chat once somebody else than its addressee has written there", async () => {
      const part = outboundPart("t-1", 1, 1);
      await send(part, "m-1");
      await store.interrupt("telegram:bot:8", "9");
      await rig.open().interrupt("telegram:bot:7", "7");
      expect(await rig.lastSent("telegram:bot:7")).toBe(part.id);
      await rig.open().interrupt("telegram:bot:7", "9");
      expect(await rig.lastSent("telegram:bot:7")).toBeUndefined();
      await send(outboundPart("t-3", 1, 1), "m-3");
      await store.interrupt("telegram:bot:7");
      expect(await rig.lastSent("telegram:bot:7")).toBeUndefined();
      const again = outboundPart("t-2", 1, 1);
      await send(again, "m-2");
      expect(await rig.lastSent("telegram:bot:7")).toBe(again.id);
    });

    it("finds a part by the id that was chosen for it before it is sent", async () => {
      const part = outboundPart("t-1", 1, 1);
      await store.apply(part.id, sending(part, "OWN1"));
      expect(await store.partOf("telegram", "bot", "OWN1")).toBe(part.id);
    });

    it("reads all parts of an answer, by their place in it", async () => {
      const parts = [3, 1, 2, 11].map((index) => outboundPart("t-1", index, 11));
      for (const part of parts) await store.apply(part.id, queued(part));
      await store.apply("out-t-2-1", queued(outboundPart("t-2", 1, 1)));
      expect((await rig.open().ofTurn("t-1")).map((record) => record.index)).toEqual([1, 2, 3, 11]);
      expect(await store.ofTurn("t-404")).toEqual([]);
    });

    it("parks receipts of messages that are not known yet, oldest first", async () => {
      await store.park("telegram", "bot", receipt("m-1", "delivered", 3_000));
      await rig.open().park("telegram", "bot", { ...receipt("m-1", "failed", 4_000), code: "131026", reason: "No." });
      await store.park("telegram", "other", receipt("m-1", "read", 5_000));
      expect(await store.parked("telegram", "bot", "m-1")).toEqual([
        receipt("m-1", "delivered", 3_000),
        { ...receipt("m-1", "failed", 4_000), code: "131026", reason: "No." },
      ]);
      expect(await store.parked("telegram", "bot", "m-2")).toEqual([]);
    });

    it("gives parked receipts again to whoever died before applying them", async () => {
      await store.park("telegram", "bot", receipt("m-1", "delivered"));
      await store.parked("telegram", "bot", "m-1");
      expect(await rig.open().parked("telegram", "bot", "m-1")).toHaveLength(1);
    });

    it("keeps few receipts of a message that nobody claims", async () => {
      for (let n = 0; n < 50; n++) await store.park("telegram", "bot", receipt("m-1", "delivered", 3_000 + n));
      const kept = await store.parked("telegram", "bot", "m-1");
      expect(kept.length).toBeLessThanOrEqual(20);
      expect(kept.at(-1)).toEqual(receipt("m-1", "delivered", 3_049));
    });

    it("lists recent parts, newest first, of all sessions or of one", async () => {
      const other = {
        session: "telegram:bot:8:8",
        address: { channel: "telegram", account: "bot", chat: "8", sender: "8" },
      };
      const answer = [outboundPart("t-1", 1, 2), outboundPart("t-1", 2, 2)];
      for (const part of answer) await store.apply(part.id, queued(part, 1_000));
      await store.apply("out-t-2-1", queued(outboundPart("t-2", 1, 1, other as Partial<OutboundPart>), 2_000));
      await store.apply("out-t-3-1", queued(outboundPart("t-3", 1, 1), 3_000));
      await store.apply("out-t-1-1", sending(answer[0] as OutboundPart));
      const parts = async (query: Parameters<DeliveryStore["recent"]>[0]) =>
        (await store.recent(query)).map((record) => record.part);
      expect(await parts({ limit: 10 })).toEqual(["out-t-3-1", "out-t-2-1", "out-t-1-2", "out-t-1-1"]);
      expect(await parts({ limit: 2 })).toEqual(["out-t-3-1", "out-t-2-1"]);
      expect(await parts({ session: "telegram:bot:7:7", limit: 2 })).toEqual(["out-t-3-1", "out-t-1-2"]);
      expect(await parts({ session: "telegram:bot:9:9", limit: 2 })).toEqual([]);
      expect(await parts({ limit: 0 })).toEqual([]);
    });
  });
}
