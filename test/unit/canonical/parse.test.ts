import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalize, parseStrict } from "../../../src/canonical/index.js";

function value(text: string): unknown {
  const parsed = parseStrict(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

function reason(text: string): string {
  const parsed = parseStrict(text);
  return parsed.ok ? "ok" : parsed.reason;
}

const nested = (levels: number, open: string, close: string, core = "") =>
  open.repeat(levels) + core + close.repeat(levels);

describe("strict JSON", () => {
  it.each([
    ['{"entidad":"cob_acuerdo","cuotas":3,"monto":184000}', { entidad: "cob_acuerdo", cuotas: 3, monto: 184000 }],
    [' \t\n\r{ "a" : [ 1 , { } , [ ] , "" ] } \t\n\r', { a: [1, {}, [], ""] }],
    ["[true,false,null]", [true, false, null]],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00é😀\u007f\u2028"', '"\\/\b\f\n\r\té😀é😀\u007f\u2028'],
    ["-0.5e-3", -0.0005],
    ["1E+2", 100],
    ["10", 10],
    ["0", 0],
    ["1e15", 1e15],
    ["0e99999", 0],
    ["0.000e-999", 0],
    ["5e-324", 5e-324],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", 9007199254740992],
    ["-9007199254740992.00", -9007199254740992],
  ])("reads %s", (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  it("keeps the order of keys", () => {
    expect(Object.keys(value('{"z":1,"a":2,"m":3}') as object)).toEqual(["z", "a", "m"]);
  });

  it("writes minus zero as zero", () => {
    expect(Object.is(value("-0"), 0)).toBe(true);
    expect(Object.is(value("-0.0e5"), 0)).toBe(true);
  });

  it("agrees with JSON.parse on what it reads", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const parsed = parseStrict(text);
        fc.pre(parsed.ok);
        expect(parsed.ok && canonicalize(parsed.value)).toBe(canonicalize(JSON.parse(text)));
      }),
    );
  });

  it.each([
    ["nothing", "", "syntax"],
    ["spaces alone", "  ", "syntax"],
    ["a byte order mark", "\ufeff1", "syntax"],
    ["another space", "\u00a01", "syntax"],
    ["something after it", "{} x", "trailing_text"],
    ["a second value", "1 2", "trailing_text"],
    ["a leading zero", "01", "trailing_text"],
    ["a sign", "+1", "syntax"],
    ["a lone minus", "-", "syntax"],
    ["a bare point", ".5", "syntax"],
    ["a point at the end", "1.", "trailing_text"],
    ["an empty exponent", "1e", "trailing_text"],
    ["hexadecimal", "0x10", "trailing_text"],
    ["NaN", "NaN", "not_finite"],
    ["Infinity", '{"a":Infinity}', "not_finite"],
    ["-Infinity", "-Infinity", "not_finite"],
    ["an overflow", '{"monto":1e400}', "number_overflow"],
    ["a negative overflow", "-1e400", "number_overflow"],
    ["an underflow", "1e-400", "number_underflow"],
    ["a negative underflow", "-0.001e-400", "number_underflow"],
    ["an integer above 2^53", "9007199254740993", "integer_too_large"],
    ["an integer below -2^53", "-9007199254740993", "integer_too_large"],
    ["another integer above 2^53", "9007199254740994", "integer_too_large"],
    ["what rounds to 2^53", "9007199254740991.5", "integer_too_large"],
    ["what rounds to 2^53 from above", "9007199254740992.1", "integer_too_large"],
    ["a long integer", "123456789012345678901234567890", "integer_too_large"],
    ["a long integer in another form", "1e20", "integer_too_large"],
    ["a duplicate key", '{"a":1,"b":2,"a":1}', "duplicate_key"],
    ["a duplicate key that is escaped", '{"a":1,"\\u0061":2}', "duplicate_key"],
    ["a duplicate key deep down", '[{"x":{"":1,"":2}}]', "duplicate_key"],
    ["__proto__", '{"__proto__":{"admin":true}}', "forbidden_key"],
    ["__proto__, escaped", '{"\\u005f_proto__":1}', "forbidden_key"],
    ["constructor", '{"a":{"constructor":1}}', "forbidden_key"],
    ["prototype", '[{"prototype":1}]', "forbidden_key"],
    ["half a pair, escaped", '"\\ud800"', "lone_surrogate"],
    ["the other half, escaped", '"\\udc00x"', "lone_surrogate"],
    ["two first halves", '"\\ud800\\ud800"', "lone_surrogate"],
    ["half a pair as it is", '"a\ud800"', "lone_surrogate"],
    ["half a pair in a key", '{"\\udfff":1}', "lone_surrogate"],
    ["half a pair outside of a text", "\ud800", "syntax"],
    ["a line break in a text", '"a\nb"', "syntax"],
    ["a null in a text", '"\0"', "syntax"],
    ["a text without end", '"abc', "syntax"],
    ["a text that ends in a backslash", '"abc\\', "syntax"],
    ["an unknown escape", '"\\x"', "syntax"],
    ["an unknown escape with four digits", '"\\x1234"', "syntax"],
    ["an inherited escape", '"\\constructor"', "syntax"],
    ["a short escape", '"\\u12"', "syntax"],
    ["a long enough but bad escape", '"\\u12g4"', "syntax"],
    ["an escape of five digits, of which one is bad", '"\\u1g234"', "syntax"],
    ["an escape with a sign", '"\\u+123"', "syntax"],
    ["single quotes", "{'a':1}", "syntax"],
    ["a bare key", "{a:1}", "syntax"],
    ["a number as key", "{1:1}", "syntax"],
    ["a key without its first quote", '{x":1}', "syntax"],
    ["no colon", '{"a" 1}', "syntax"],
    ["no value", '{"a":}', "syntax"],
    ["a comma at the end", "[1,]", "syntax"],
    ["a comma at the end of an object", '{"a":1,}', "syntax"],
    ["a comma at the start", "[,1]", "syntax"],
    ["no comma", "[1 2]", "syntax"],
    ["the wrong bracket", "[1}", "syntax"],
    ["no end", '{"a":[1', "syntax"],
    ["a bare open bracket", "[", "syntax"],
    ["a bare close bracket", "]", "syntax"],
    ["a comment", "/* x */ 1", "syntax"],
    ["half a word", "tru", "syntax"],
    ["another word's beginning", "nulx", "syntax"],
    ["a capital", "True", "syntax"],
    ["fa", "fa", "syntax"],
    ["a longer word", "trueish", "trailing_text"],
  ])("refuses %s", (_what, text, expected) => {
    expect(reason(text)).toBe(expected);
  });

  it("says what is wrong, and where", () => {
    expect(parseStrict('{"a":1, "a":2}')).toEqual({
      ok: false,
      reason: "duplicate_key",
      message: "A key stands twice in one object. At position 8.",
    });
    expect(parseStrict('["x", "\\ud800"]')).toMatchObject({
      message: "A text contains half of a UTF-16 surrogate pair. At position 6.",
    });
    expect(parseStrict("[1, 1e999]")).toMatchObject({
      message: "A number is too large to be represented. Give it as a string. At position 4.",
    });
    expect(parseStrict("[1, 90071992547409930]")).toMatchObject({
      message: "An integer is beyond 2^53 and would be rounded. Give it as a string. At position 4.",
    });
    expect(parseStrict("[1, 1e-999]")).toMatchObject({
      message: "A number is too small to be represented and would become 0. Give it as a string. At position 4.",
    });
    expect(parseStrict("[1, NaN]")).toMatchObject({ message: "NaN and Infinity are no JSON. At position 4." });
    expect(parseStrict("[1, x]")).toMatchObject({ message: "It is not valid JSON. At position 4." });
    expect(parseStrict("[1] x")).toMatchObject({
      message: "Something follows the JSON value. Give exactly one value. At position 4.",
    });
    expect(parseStrict('{"constructor":1}')).toMatchObject({
      message: "The keys __proto__, constructor and prototype are not allowed. At position 1.",
    });
  });

  it("takes 32 levels and refuses 33", () => {
    expect(reason(nested(32, "[", "]"))).toBe("ok");
    expect(reason(nested(33, "[", "]"))).toBe("too_deep");
    expect(reason(nested(32, '{"a":', "}", "1"))).toBe("ok");
    expect(reason(nested(33, '{"a":', "}", "1"))).toBe("too_deep");
    expect(reason(nested(16, '[{"a":', "}]", "1"))).toBe("ok");
    expect(reason(nested(17, '[{"a":', "}]", "1"))).toBe("too_deep");
    expect(reason(nested(100_000, "[", "]"))).toBe("too_deep");
    expect(reason(`[${nested(31, "[", "]")},${nested(31, "[", "]")}]`)).toBe("ok");
    expect(parseStrict(nested(33, "[", "]"))).toMatchObject({
      message: "It is nested more than 32 levels deep. At position 32.",
    });
  });

  it("takes 256 KiB and refuses a byte more, counted in UTF-8", () => {
    const text = (length: number, filler: string) => `"${filler.repeat(length)}"`;
    expect(reason(text(256 * 1024 - 2, "x"))).toBe("ok");
    expect(reason(text(256 * 1024 - 1, "x"))).toBe("too_large");
    expect(reason(text(128 * 1024 - 1, "é"))).toBe("ok");
    expect(reason(text(128 * 1024, "é"))).toBe("too_large");
    expect(reason(" ".repeat(256 * 1024 + 1))).toBe("too_large");
    expect(parseStrict(text(300_000, "x"))).toMatchObject({ message: "It is larger than 256 KiB." });
  });

  it("cannot pollute anything: its objects inherit nothing", () => {
    const parsed = value('{"a":{},"toString":1,"hasOwnProperty":2}') as Record<string, object>;
    expect(Object.getPrototypeOf(parsed)).toBeNull();
    expect(Object.getPrototypeOf(parsed.a)).toBeNull();
    expect("valueOf" in parsed).toBe(false);
    expect(Object.keys(parsed)).toEqual(["a", "toString", "hasOwnProperty"]);
  });
});
