import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseExactly, select } from "../../../src/agents/tools/select.js";

const answer = {
  data: { rows: [{ id: 1, tags: ["a", "b"] }, { id: 2, tags: [] }, { name: "x" }] },
  "odd.key": { x: 1 },
  empty: null,
};

describe("a selection", () => {
  it.each([
    ["data.rows[0].id", 1],
    ["$.data.rows[1].id", 2],
    ["$", answer],
    ["data.rows.0.id", 1],
    ["data.rows[*].id", [1, 2]],
    ["data.rows[*]", answer.data.rows],
    ["data.rows[*].tags[*]", ["a", "b"]],
    ['["odd.key"].x', 1],
    ["empty", null],
  ])("reads %s", (path, expected) => {
    expect(select(answer, path)).toEqual(expected);
  });

  it.each([
    "data.nothing",
    "data.rows[9]",
    "data.rows.id",
    "empty.x",
    "data[*]",
    "__proto__",
    "constructor",
    "a[",
    "data..rows",
    "data.rows.length",
  ])("finds nothing at %s", (path) => {
    expect(select(answer, path)).toBeUndefined();
  });
});

describe("reading JSON exactly", () => {
  it("keeps the digits of integers that a double would round", () => {
    expect(parseExactly('{"id":9007199254740993,"n":-12345678901234567890,"s":"9007199254740993"}')).toEqual({
      id: "9007199254740993",
      n: "-12345678901234567890",
      s: "9007199254740993",
    });
  });

  it("leaves strings, fractions and small numbers alone", () => {
    const text = '{"a":0.12345678901234567,"b":"\\"9007199254740993\\" \\\\","c":9007199254740991,"d":1e20}';
    expect(parseExactly(text)).toEqual(JSON.parse(text));
  });

  it("is JSON.parse for everything without such integers", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const unsafe = /\d{16}/.test(text);
        if (!unsafe) expect(parseExactly(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("refuses what is no JSON", () => {
    expect(() => parseExactly("{9007199254740993")).toThrow(SyntaxError);
  });

  it("reads a string of megabytes", () => {
    const long = "x9007199254740993 ".repeat(200_000);
    expect(parseExactly(JSON.stringify({ long }))).toEqual({ long });
  });
});
