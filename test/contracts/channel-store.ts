import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ChannelStore, LogEntry } from "../../src/channels/index.js";

/** One account's store, as several processes see it. */
export interface ChannelStoreRig {
  /** The account's store in one more process (the same object where there is but one). */
  open(): ChannelStore;
  /** The corner of another account of the same channel. */
  other(): ChannelStore;
  close(): Promise<void>;
}

/** What a ChannelStore keeps, wherever it keeps it. */
export function channelStoreContract(title: string, create: () => Promise<ChannelStoreRig>): void {
  describe(`channel store: ${title}`, () => {
    let rig: ChannelStoreRig;
    let store: ChannelStore;

    beforeEach(async () => {
      rig = await create();
      store = rig.open();
    });
    afterEach(() => rig.close());

    describe("values", () => {
      it("gives back what was set, from any process, until it is deleted", async () => {
        expect(await store.get("offset")).toBeUndefined();
        await store.set("offset", "41");
        await store.set("offset", "42");
        expect(await rig.open().get("offset")).toBe("42");
        await store.delete("offset");
        expect(await store.get("offset")).toBeUndefined();
      });

      it("forgets a value when its time is over, and keeps one without a time", async () => {
        await store.set("short", "a", 30);
        await store.set("kept", "b", 30);
        await store.set("kept", "b");
        await vi.waitFor(async () => expect(await store.get("short")).toBeUndefined());
        expect(await store.get("kept")).toBe("b");
      });

      it("keeps accounts apart", async () => {
        await store.set("offset", "42");
        expect(await rig.other().get("offset")).toBeUndefined();
      });
    });

    describe("lease", () => {
      it("is held by one at a time, and fences grow", async () => {
        const first = await store.acquireLease(5_000);
        expect(first).toBeDefined();
        expect(await rig.open().acquireLease(5_000)).toBeUndefined();
        expect(await rig.other().acquireLease(5_000)).toBeDefined();
        await first?.release();
        const second = await rig.open().acquireLease(5_000);
        expect(second?.fence).toBeGreaterThan(first?.fence ?? 0);
        await second?.release();
      });

      it("is given to one of many that ask at once", async () => {
        const asked = await Promise.all(Array.from({ length: 20 }, () => rig.open().acquireLease(5_000)));
        const got = asked.filter((lease) => lease !== undefined);
        expect(got).toHaveLength(1);
        await got[0]?.release();
      });

      it("is kept beyond its time by renewing itself", async () => {
        const lease = await store.acquireLease(150);
        await sleep(500);
        expect(lease?.lost.aborted).toBe(false);
        expect(await rig.open().acquireLease(150)).toBeUndefined();
        await lease?.release();
      });

      it("does not end somebody else's lease when it is released twice", async () => {
        const first = await store.acquireLease(5_000);
        await first?.release();
        const second = await store.acquireLease(5_000);
        await first?.release();
        expect(await store.acquireLease(5_000)).toBeUndefined();
        expect(second?.lost.aborted).toBe(false);
        await second?.release();
      });
    });

    describe("fenced state", () => {
      it("writes all entries or none, and null deletes", async () => {
        const lease = await store.acquireLease(5_000);
        const fence = lease?.fence ?? 0;
        expect(await store.fenced.write(fence, { "key:1": "a", "key:2": "b", creds: "c" })).toBe(true);
        expect(await store.fenced.write(fence, { "key:1": null, "key:3": "d" })).toBe(true);
        const reader = rig.open();
        expect(await reader.fenced.read(["key:1", "key:2", "creds", "key:3"])).toEqual([undefined, "b", "c", "d"]);
        expect([...(await reader.fenced.keys("key:"))].sort()).toEqual(["key:2", "key:3"]);
        expect(await reader.fenced.read([])).toEqual([]);
        expect(await store.fenced.write(fence, {})).toBe(true);
        expect(await rig.other().fenced.read(["creds"])).toEqual([undefined]);
        await lease?.release();
      });

      it("refuses a holder after whom somebody else was given the lease", async () => {
        const first = await store.acquireLease(5_000);
        await store.fenced.write(first?.fence ?? 0, { creds: "first" });
        await first?.release();
        expect(await store.fenced.write(first?.fence ?? 0, { creds: "still alone" })).toBe(true);
        const second = await rig.open().acquireLease(5_000);
        expect(await store.fenced.write(first?.fence ?? 0, { creds: "zombie", other: "x" })).toBe(false);
        expect(await store.fenced.read(["creds", "other"])).toEqual(["still alone", undefined]);
        expect(await store.fenced.write(second?.fence ?? 0, { creds: "second" })).toBe(true);
        await second?.release();
      });

      it("takes names and values as they are", async () => {
        const lease = await store.acquireLease(5_000);
        const odd = { "a*[b]?": "\u0000\n😀", __proto__x: "", "session-1:2@s.example": "{}" };
        await store.fenced.write(lease?.fence ?? 0, odd);
        expect(await store.fenced.read(Object.keys(odd))).toEqual(Object.values(odd));
        expect(await store.fenced.keys("a*")).toEqual(["a*[b]?"]);
        await lease?.release();
      });
    });

    describe("log", () => {
      it("reads the newest entries after an id, oldest first", async () => {
        const ids: string[] = [];
        for (const value of ["a", "b", "c", "d"]) ids.push(await store.log.append("chat", value));
        expect(values(await rig.open().log.read("chat", undefined, 10))).toEqual(["a", "b", "c", "d"]);
        expect(values(await store.log.read("chat", undefined, 2))).toEqual(["c", "d"]);
        expect(values(await store.log.read("chat", ids[1], 10))).toEqual(["c", "d"]);
        expect(values(await store.log.read("chat", ids[0], 2))).toEqual(["c", "d"]);
        expect(await store.log.read("chat", ids[3], 10)).toEqual([]);
        expect(await store.log.read("another", undefined, 10)).toEqual([]);
        expect(await rig.other().log.read("chat", undefined, 10)).toEqual([]);
        expect([...ids].sort()).toEqual(ids);
      });

      it("takes an id that it never gave for none", async () => {
        await store.log.append("chat", "a");
        expect(values(await store.log.read("chat", "nonsense\r\n", 10))).toEqual(["a"]);
      });

      it("sorts its ids by age as text, however fast they come", async () => {
        const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => store.log.append("chat", String(n))));
        const entries = await store.log.read("chat", undefined, 100);
        const kept = entries.map((entry) => entry.id);
        expect([...kept].sort()).toEqual(kept);
        expect([...ids].sort()).toEqual(kept);
      });

      it("appends the same `once` of a chat once", async () => {
        const first = await store.log.append("chat", "a", "part-1");
        expect(await rig.open().log.append("chat", "again", "part-1")).toBe(first);
        expect(await store.log.append("elsewhere", "b", "part-1")).not.toBe(undefined);
        expect(values(await store.log.read("chat", undefined, 10))).toEqual(["a"]);
        expect(values(await store.log.read("elsewhere", undefined, 10))).toEqual(["b"]);
      });

      it("hands later entries and signals to every follower of the chat, in any process", async () => {
        await store.log.append("chat", "before");
        const seen = [follower(), follower()];
        const stops = [
          await store.log.follow("chat", seen[0]?.onEntry ?? fail, seen[0]?.onSignal ?? fail),
          await rig.open().log.follow("chat", seen[1]?.onEntry ?? fail, seen[1]?.onSignal ?? fail),
        ];
        const id = await rig.open().log.append("chat", "entry");
        await store.log.append("elsewhere", "not for them");
        await store.log.signal("chat", "typing");
        await rig.other().log.signal("chat", "not theirs");
        for (const each of seen) {
          await vi.waitFor(() => expect(each.signals).toEqual(["typing"]));
          expect(each.entries).toEqual([{ id, value: "entry" }]);
        }
        for (const stop of stops) stop();
      });

      it("stops handing over when told, to that follower alone", async () => {
        const [gone, stays] = [follower(), follower()];
        const stop = await store.log.follow("chat", gone.onEntry, gone.onSignal);
        const stopOther = await store.log.follow("chat", stays.onEntry, stays.onSignal);
        stop();
        await store.log.append("chat", "a");
        await vi.waitFor(() => expect(values(stays.entries)).toEqual(["a"]));
        expect(gone.entries).toEqual([]);
        stopOther();
        const back = follower();
        const stopBack = await store.log.follow("chat", back.onEntry, back.onSignal);
        await store.log.append("chat", "b");
        await vi.waitFor(() => expect(values(back.entries)).toEqual(["b"]));
        expect(values(stays.entries)).toEqual(["a"]);
        stopBack();
      });

      it("misses no entry while others append, and hands over none twice", async () => {
        const seen = follower();
        const appending = Promise.all(Array.from({ length: 40 }, (_, n) => store.log.append("chat", String(n))));
        const stop = await rig.open().log.follow("chat", seen.onEntry, seen.onSignal);
        await appending;
        const last = await store.log.append("chat", "last");
        await vi.waitFor(() => expect(seen.entries.at(-1)?.id).toBe(last));
        const all = await store.log.read("chat", undefined, 100);
        expect(seen.entries).toEqual(all.slice(-seen.entries.length));
        stop();
      });
    });
  });
}

function values(entries: readonly LogEntry[]): string[] {
  return entries.map((entry) => entry.value);
}

function fail(): never {
  throw new Error("no such follower");
}

function follower() {
  const entries: LogEntry[] = [];
  const signals: string[] = [];
  return {
    entries,
    signals,
    onEntry: (entry: LogEntry) => void entries.push(entry),
    onSignal: (value: string) => void signals.push(value),
  };
}
