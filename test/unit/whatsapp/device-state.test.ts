import { initAuthCreds, type SignalDataTypeMap } from "@whiskeysockets/baileys";
import { beforeEach, describe, expect, it } from "vitest";
import { openDeviceState } from "../../../adapters/whatsapp/device-state.js";
import { createSealer } from "../../../adapters/whatsapp/sealing.js";
import { createMemoryChannelStore, type MemoryChannelStore } from "../../../src/store/index.js";

const key = (fill: number) => Buffer.alloc(32, fill).toString("base64");

describe("the linked device's state", () => {
  let store: MemoryChannelStore;
  let fence: number;
  let fenced: number;

  beforeEach(async () => {
    store = createMemoryChannelStore();
    fence = (await store.acquireLease(1_000))?.fence ?? 0;
    fenced = 0;
  });

  const open = (keys: readonly string[] = []) =>
    openDeviceState({
      fenced: store.fenced,
      fence,
      sealer: createSealer(keys),
      tries: 2,
      pauseMs: 1,
      over: new AbortController().signal,
      onFenced: () => {
        fenced++;
      },
    });
  const link = (state: Awaited<ReturnType<typeof open>>) =>
    Object.assign(state.creds, {
      me: { id: "1:1@s.whatsapp.net", lid: "2:1@lid" },
      account: { details: Buffer.alloc(4, 7) },
    });
  const everything = async () => {
    const names = await store.fenced.keys("");
    return Object.fromEntries((await store.fenced.read(names)).map((value, n) => [names[n] ?? "", value]));
  };
  const pair = (fill: number): SignalDataTypeMap["pre-key"] => ({
    public: Buffer.alloc(32, fill),
    private: Buffer.alloc(32, fill + 1),
  });

  it("gives keys back as they were: bytes stay bytes, null deletes", async () => {
    const { keys } = await open();
    await keys.set({
      "pre-key": { 1: pair(1), 2: pair(3) },
      session: { "5.0": Buffer.from([1, 2, 3]) },
      "lid-mapping": { 5: "9" },
    });
    const again = await open();
    expect(await again.keys.get("pre-key", ["1", "2", "3"])).toEqual({ 1: pair(1), 2: pair(3) });
    expect((await again.keys.get("session", ["5.0"]))["5.0"]).toEqual(Buffer.from([1, 2, 3]));
    await keys.set({ "pre-key": { 1: null } });
    expect(await again.keys.get("pre-key", ["1", "2"])).toEqual({ 2: pair(3) });
  });

  it("gives app-state keys back as objects of the protocol", async () => {
    const { keys } = await open();
    await keys.set({ "app-state-sync-key": { k: { keyData: Buffer.alloc(4, 9), timestamp: 5 } } });
    const found = (await (await open()).keys.get("app-state-sync-key", ["k"])).k;
    expect(Buffer.from(found?.keyData ?? [])).toEqual(Buffer.alloc(4, 9));
    expect(found?.constructor.name).toBe("AppStateSyncKeyData");
  });

  it("has nothing of a write that failed", async () => {
    const { keys } = await open();
    await keys.set({ session: { a: Buffer.from([1]) } });
    const { write } = store.fenced;
    Object.assign(store.fenced, { write: async () => Promise.reject(new Error("away")) });
    await expect(keys.set({ session: { a: Buffer.from([2]), b: Buffer.from([2]) } })).rejects.toThrow();
    Object.assign(store.fenced, { write });
    expect(await keys.get("session", ["a", "b"])).toEqual({ a: Buffer.from([1]) });
  });

  it("is written by the owner only, and says who is none any more", async () => {
    const old = await open();
    store.breakLease();
    await store.acquireLease(1_000);
    await expect(old.keys.set({ session: { a: Buffer.from([1]) } })).rejects.toEqual(
      expect.objectContaining({ code: "lease_lost" }),
    );
    expect(fenced).toBe(1);
    expect(await store.fenced.keys("")).toEqual(["device"]);
  });

  it("keeps credentials once a phone has linked them, and never before", async () => {
    const state = await open();
    Object.assign(state.creds, { me: { id: "1@s.whatsapp.net", name: "~" }, pairingCode: "ABCDEFGH" });
    state.save();
    await state.flush();
    expect(state.linked).toBe(false);
    expect((await open()).creds.me).toBeUndefined();
    link(state);
    state.save();
    await state.flush();
    const again = await open();
    expect(again.linked).toBe(true);
    expect(again.creds.noiseKey.private).toEqual(state.creds.noiseKey.private);
  });

  it("writes what changed while it was writing", async () => {
    const state = await open();
    link(state);
    const { write } = store.fenced;
    Object.assign(store.fenced, {
      write: async (...given: Parameters<typeof write>) => {
        const done = await write(...given);
        if (state.creds.nextPreKeyId === 1) {
          state.creds.nextPreKeyId = 42;
          state.save();
        }
        return done;
      },
    });
    state.save();
    await state.flush();
    expect((await open()).creds.nextPreKeyId).toBe(42);
  });

  it("tries again what could not be written", async () => {
    const state = await open();
    link(state);
    const { write } = store.fenced;
    Object.assign(store.fenced, { write: async () => Promise.reject(new Error("away")) });
    state.save();
    await expect(state.flush()).rejects.toThrow("away");
    Object.assign(store.fenced, { write });
    await state.flush();
    expect((await open()).linked).toBe(true);
  });

  it("puts an ended link aside, with the reason, and begins anew", async () => {
    const state = await open();
    link(state);
    state.save();
    await state.flush();
    await state.keys.set({ session: { a: Buffer.from([1]) } });
    const before = Buffer.from(state.creds.noiseKey.public);
    await state.archive({ reason: "Logged out on the phone", at: 5 });
    expect(state.linked).toBe(false);
    expect(Buffer.from(state.creds.noiseKey.public)).not.toEqual(before);
    expect(await state.keys.get("session", ["a"])).toEqual({});
    expect(Object.keys(await everything())).toEqual(expect.arrayContaining(["g1:creds", "g1:session:a"]));
    const again = await open();
    expect(again.linked).toBe(false);
    expect(again.ended).toEqual({ reason: "Logged out on the phone", at: 5 });
  });

  it("keeps one ended link, and not those before", async () => {
    const state = await open();
    for (let n = 0; n < 3; n++) {
      await state.keys.set({ session: { a: Buffer.from([n]) } });
      await state.archive({ reason: "again", at: n });
    }
    const kept = Object.keys(await everything()).filter((name) => name.includes("session"));
    expect(kept).toEqual(["g3:session:a"]);
  });

  it("is all under the first key after it was opened with it", async () => {
    const plain = await open();
    link(plain);
    plain.save();
    await plain.flush();
    await plain.keys.set({ session: { a: Buffer.from([1]) } });
    await open([key(1)]);
    const sealed = await everything();
    expect(Object.values(sealed).every((value) => value?.startsWith("sealed1."))).toBe(true);
    await open([key(2), key(1)]);
    const rotated = await open([key(2)]);
    expect(rotated.linked).toBe(true);
    expect(await rotated.keys.get("session", ["a"])).toEqual({ a: Buffer.from([1]) });
    expect(JSON.stringify(await everything())).not.toContain(initAuthCreds().advSecretKey);
  });

  it("refuses a shape that it does not know", async () => {
    await store.fenced.write(fence, { device: JSON.stringify({ version: 2, value: {} }) });
    await expect(open()).rejects.toEqual(expect.objectContaining({ code: "store_version" }));
  });
});
