import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { canonicalize, checkJson } from "../../../src/canonical/index.js";

function reason(value: unknown): string {
  const checked = checkJson(value);
  return checked.ok ? "ok" : checked.reason;
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}

class Plan {
  cuotas = 3;
}

const cycle: { self?: unknown } = {};
cycle.self = cycle;

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

describe("a value in memory", () => {
  it("is copied as it is", () => {
    const value = { z: [1, "x", null, true, { a: 0.5 }], a: {} };
    const checked = checkJson(value);
    expect(checked).toEqual({ ok: true, value });
    if (!checked.ok) return;
    expect(checked.value).not.toBe(value);
    expect(Object.keys(checked.value as object)).toEqual(["z", "a"]);
    expect(Object.getPrototypeOf(checked.value)).toBeNull();
  });

  it("leaves out what is undefined, as JSON does", () => {
    expect(checkJson({ a: undefined, b: 1 })).toEqual({ ok: true, value: { b: 1 } });
  });

  it("may come from another realm, or inherit nothing", () => {
    expect(reason(runInNewContext("({a: [1]})"))).toBe("ok");
    expect(reason(Object.assign(Object.create(null), { a: 1 }))).toBe("ok");
  });

  it("may contain the same object twice, side by side", () => {
    const shared = { a: 1 };
    expect(checkJson({ x: shared, y: [shared, shared] })).toMatchObject({ ok: true });
  });

  it("is read once: what it says later does not matter", () => {
    let reads = 0;
    const checked = checkJson({
      get a() {
        return ++reads;
      },
    });
    expect(checked).toEqual({ ok: true, value: { a: 1 } });
    expect(reads).toBe(1);
  });

  it("has no minus zero", () => {
    const checked = checkJson(-0);
    expect(checked.ok && Object.is(checked.value, 0)).toBe(true);
  });

  it.each([
    ["undefined", undefined, "not_json"],
    ["undefined in an array", [undefined], "not_json"],
    ["a hole in an array", new Array(2), "not_json"],
    ["a function", { a: () => 1 }, "not_json"],
    ["a symbol", [Symbol("x")], "not_json"],
    ["a bigint", { a: 1n }, "not_json"],
    ["a Date", { at: new Date(0) }, "not_json"],
    ["a Map", new Map([["a", 1]]), "not_json"],
    ["a Set", [new Set()], "not_json"],
    ["an instance", { plan: new Plan() }, "not_json"],
    ["an instance of a class without a base", new (class extends Plan {})(), "not_json"],
    ["a RegExp", /x/, "not_json"],
    ["bytes", Buffer.from("x"), "not_json"],
    ["a boxed string", { a: Object("x") }, "not_json"],
    ["an error", new Error("x"), "not_json"],
    ["a promise", Promise.resolve(1), "not_json"],
    ["NaN", { a: Number.NaN }, "not_finite"],
    ["Infinity", [Number.POSITIVE_INFINITY], "not_finite"],
    ["an integer beyond 2^53", { a: 2 ** 53 + 2 }, "integer_too_large"],
    ["an integer below -2^53", { a: -(2 ** 53) - 2 }, "integer_too_large"],
    ["a long number", 1e21, "integer_too_large"],
    ["a lone surrogate", ["\ud800"], "lone_surrogate"],
    ["a lone surrogate in a key", { "\udc00": 1 }, "lone_surrogate"],
    ["__proto__", JSON.parse('{"__proto__":1}'), "forbidden_key"],
    ["constructor", { constructor: 1 }, "forbidden_key"],
    ["prototype", [{ prototype: {} }], "forbidden_key"],
    ["a cycle", cycle, "cycle"],
    ["a cycle through an array", { a: [cycle] }, "cycle"],
    [
      "a getter that throws",
      {
        get a() {
          throw new Error("no");
        },
      },
      "unreadable",
    ],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          ownKeys() {
            throw new Error("no");
          },
        },
      ),
      "unreadable",
    ],
    [
      "a proxy that hides what it is",
      new Proxy(
        {},
        {
          getPrototypeOf() {
            throw null;
          },
        },
      ),
      "unreadable",
    ],
    ["a revoked proxy", [revoked()], "unreadable"],
  ])("is refused: %s", (_what, value, expected) => {
    expect(reason(value)).toBe(expected);
  });

  it("takes 2^53 itself", () => {
    expect(reason([2 ** 53, -(2 ** 53)])).toBe("ok");
  });

  it("takes 32 levels and refuses 33", () => {
    expect(reason(nested(32))).toBe("ok");
    expect(reason(nested(33))).toBe("too_deep");
    expect(reason(nested(5_000))).toBe("too_deep");
  });

  it("takes a canonical form of 256 KiB and refuses a byte more", () => {
    const sized = (bytes: number, filler = "x") => ({ a: filler.repeat((bytes - '{"a":""}'.length) / filler.length) });
    expect(canonicalize(sized(256 * 1024)).length).toBe(256 * 1024);
    expect(reason(sized(256 * 1024))).toBe("ok");
    expect(reason(sized(256 * 1024 + 1))).toBe("too_large");
    expect(reason({ a: "é".repeat(128 * 1024 - 4) })).toBe("ok");
    expect(reason({ a: "é".repeat(128 * 1024 - 3) })).toBe("too_large");
    expect(reason({ ["k".repeat(300 * 1024)]: 1 })).toBe("too_large");
    expect(reason({ a: "\n".repeat(140 * 1024) })).toBe("too_large");
  });

  it("gives up in time on what has no end", () => {
    let wide: unknown = 1;
    for (let level = 0; level < 30; level++) wide = [wide, wide];
    expect(reason(wide)).toBe("too_large");
    expect(reason(new Array(2 ** 31))).toBe("too_large");
    const endless: object = new Proxy(
      {},
      {
        get: () => endless,
        ownKeys: () => ["a"],
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
      },
    );
    expect(["too_deep", "cycle"]).toContain(reason(endless));
    expect(reason(Array.from({ length: 300_000 }, () => true))).toBe("too_large");
    expect(reason(Array.from({ length: 140_000 }, () => 1))).toBe("too_large");
    expect(reason(Array.from({ length: 90_000 }, () => null))).toBe("too_large");
  });

  it("has read no more than could fit when it gives up", () => {
    let reads = 0;
    let wide: unknown = {
      get key() {
        reads++;
        return "";
      },
    };
    for (let level = 0; level < 20; level++) wide = [wide, wide];
    expect(reason(wide)).toBe("too_large");
    expect(reads).toBeLessThan((256 * 1024) / '{"key":""},'.length);
  });

  it("says what is wrong", () => {
    expect(checkJson(cycle)).toEqual({ ok: false, reason: "cycle", message: "An object contains itself." });
    expect(checkJson(1n)).toMatchObject({
      message: "It contains something that JSON has no form for. A bigint cannot be written.",
    });
    expect(checkJson(new Date())).toMatchObject({
      message: "It contains something that JSON has no form for. Only plain objects and arrays can be written.",
    });
    expect(checkJson(revoked())).toMatchObject({ message: "Reading it failed." });
    expect(checkJson(Number.NaN)).toMatchObject({ message: "NaN and Infinity are no JSON." });
    expect(checkJson(["\ud800"])).toMatchObject({ message: "A text contains half of a UTF-16 surrogate pair." });
    expect(checkJson(nested(33))).toMatchObject({ message: "It is nested more than 32 levels deep." });
  });
});
