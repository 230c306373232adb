import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createInstallationKeys } from "../../../src/evidence/index.js";
import { entryKey, newDataKey, open, type SealedPart, seal } from "../../../src/evidence/seal.js";

const part: SealedPart = {
  session: "telegram:bot:7:7",
  argsHash: "f".repeat(64),
  turn: "t-1",
  detail: { words: "dale", again: false, times: 2 },
};

describe("what is sealed", () => {
  const dataKey = newDataKey();

  it("is opened by the key of its entry, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), (text, id) => {
        const told = { ...part, detail: { text } };
        const key = entryKey(dataKey, id);
        expect(open(seal(told, key, id), key, id)).toEqual(told);
      }),
    );
    const { turn: _, ...without } = part;
    const key = entryKey(dataKey, "e");
    expect(open(seal(without, key, "e"), key, "e")).toStrictEqual(without);
  });

  it("is opened by no other key, nor as another entry", () => {
    const key = entryKey(dataKey, "one");
    const sealed = seal(part, key, "one");
    expect(open(sealed, entryKey(dataKey, "two"), "one")).toBeUndefined();
    expect(open(sealed, entryKey(newDataKey(), "one"), "one")).toBeUndefined();
    expect(open(sealed, key, "two")).toBeUndefined();
    expect(open(sealed, key.subarray(1), "one")).toBeUndefined();
    expect(open(Buffer.alloc(0), key, "one")).toBeUndefined();
  });

  it("is not opened when any bit of it was changed", () => {
    const key = entryKey(dataKey, "one");
    const sealed = Buffer.from(seal(part, key, "one"));
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      expect(open(changed, key, "one")).toBeUndefined();
    }
  });

  it("never looks the same twice", () => {
    const key = entryKey(dataKey, "one");
    expect(Buffer.from(seal(part, key, "one")).equals(seal(part, key, "one"))).toBe(false);
  });
});

describe("the keys of an installation", () => {
  const secret = randomBytes(32);
  const keys = createInstallationKeys(secret);

  it("follow from its secret", () => {
    const again = createInstallationKeys(secret);
    const dataKey = newDataKey();
    expect(again.publicKey).toBe(keys.publicKey);
    expect(again.lookup("a")).toEqual(keys.lookup("a"));
    expect(again.unwrap("ch", keys.wrap("ch", dataKey))).toEqual(dataKey);
    expect(Buffer.from(again.sign(Buffer.from("x"))).equals(keys.sign(Buffer.from("x")))).toBe(true);
  });

  it("are another's with another secret", () => {
    const other = createInstallationKeys(randomBytes(32));
    expect(other.publicKey).not.toBe(keys.publicKey);
    expect(other.lookup("a")).not.toEqual(keys.lookup("a"));
    expect(other.unwrap("ch", keys.wrap("ch", newDataKey()))).toBeUndefined();
  });

  it("wrap a data key for one chain, and show when it was altered", () => {
    const wrapped = keys.wrap("ch", newDataKey());
    expect(keys.unwrap("other", wrapped)).toBeUndefined();
    expect(keys.unwrap("ch", new Uint8Array())).toBeUndefined();
    for (let at = 0; at < wrapped.length; at++) {
      const changed = Buffer.from(wrapped);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(keys.unwrap("ch", changed)).toBeUndefined();
    }
  });
});
