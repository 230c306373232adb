import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canonicalize,
  digestId,
  fingerprint,
  hmacFingerprint,
  type JsonObject,
  type JsonValue,
  parseStrict,
} from "../../../src/canonical/index.js";

function of(text: string, tool = "tool"): string {
  const parsed = parseStrict(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return fingerprint(tool, parsed.value);
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe("the fingerprint of a call", () => {
  it("is the SHA-256 of the canonical form of version, tool and arguments", () => {
    expect(of('{"monto": 184000, "cuotas": 3, "entidad": "cob_acuerdo"}', "praxis_crear_record")).toBe(
      sha256('["v1","praxis_crear_record",{"cuotas":3,"entidad":"cob_acuerdo","monto":184000}]'),
    );
  });

  it("is one for 1, 1.0 and 1e0, and for any order of keys", () => {
    expect(of('{"a":1}')).toBe(of('{"a":1.0}'));
    expect(of('{"a":1}')).toBe(of('{"a":1e0}'));
    expect(of('{"a":-0}')).toBe(of('{"a":0}'));
    expect(of('{"a":1,"b":{"c":2,"d":3}}')).toBe(of('{"b":{"d":3,"c":2},"a":1}'));
    expect(of('{"a":"\\u00e9"}')).toBe(of('{"a":"é"}'));
  });

  it("differs for a text and a number, for composed and decomposed, for the order of a list, and by tool", () => {
    expect(of('{"a":"1"}')).not.toBe(of('{"a":1}'));
    expect(of('{"a":"é"}')).not.toBe(of('{"a":"e\u0301"}'));
    expect(of('{"a":[1,2]}')).not.toBe(of('{"a":[2,1]}'));
    expect(of('{"a":null}')).not.toBe(of("{}"));
    expect(of("{}", "one")).not.toBe(of("{}", "other"));
    expect(of('["x"]', "a")).not.toBe(of('"x"', "a"));
  });

  it("with a key is an HMAC of the same text, and another one for another key", () => {
    const args: JsonObject = { a: 1 };
    const text = '["v1","tool",{"a":1}]';
    expect(hmacFingerprint("key", "tool", args)).toBe(createHmac("sha256", "key").update(text).digest("hex"));
    expect(hmacFingerprint(Buffer.from("key"), "tool", args)).toBe(hmacFingerprint("key", "tool", args));
    expect(hmacFingerprint("other", "tool", args)).not.toBe(hmacFingerprint("key", "tool", args));
  });

  it("is the same for every value that has the same canonical form, and for no other", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (one, other) => {
        const [a, b] = [one as JsonValue, other as JsonValue];
        expect(fingerprint("t", a) === fingerprint("t", b)).toBe(canonicalize(a) === canonicalize(b));
      }),
      { numRuns: 300 },
    );
  });
});

describe("an opaque id", () => {
  it("is the prefix and 22 characters of the digest of its parts", () => {
    const digest = createHash("sha256").update('["telegram","bot",42]').digest("base64url");
    expect(digestId("t-", "telegram", "bot", 42)).toBe(`t-${digest.slice(0, 22)}`);
    expect(digestId("t-", "telegram", "bot", 42)).toMatch(/^t-[A-Za-z0-9_-]{22}$/);
  });

  it("never joins its parts: where one ends matters", () => {
    expect(digestId("x", "ab", "c")).not.toBe(digestId("x", "a", "bc"));
    expect(digestId("x", "ab", "c")).not.toBe(digestId("x", "abc"));
    expect(digestId("x")).not.toBe(digestId("x", ""));
  });
});
