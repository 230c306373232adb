import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fill, fillText, leftOut, type Values } from "../../../src/agents/tools/template.js";
import type { JsonValue } from "../../../src/canonical/index.js";

describe("a template", () => {
  it("gives a value of exactly {param} the argument itself, with its type", () => {
    const given = { n: 3, flag: false, list: [1, "a"], map: { a: { b: null } }, none: null, text: "x" };
    for (const [name, value] of Object.entries(given)) expect(fill(`{${name}}`, values(given))).toEqual(value);
  });

  it("turns a string that embeds parameters into text", () => {
    expect(fill("{n} of {flag} in {map}", values({ n: 3, flag: false, map: { a: 1 } }))).toBe('3 of false in {"a":1}');
  });

  it("leaves out the whole entry whose optional parameter was not given", () => {
    const template = { a: "{a}", b: "x {b}", list: ["{a}", "{b}", 7], deep: { b: "{b}" } };
    expect(fill(template, values({ a: 1 }, ["b"]))).toEqual({ a: 1, list: [1, 7], deep: {} });
    expect(fill("{b}", values({}, ["b"]))).toBe(leftOut);
  });

  it("takes only declared parameters for placeholders", () => {
    expect(fill("query{ user{id} }", values({ name: "x" }))).toBe("query{ user{id} }");
    expect(fill("{id}", values({ name: "x" }))).toBe("{id}");
    expect(fill("{constructor} {__proto__}", values({}))).toBe("{constructor} {__proto__}");
  });

  it("never fills what an argument brought in", () => {
    expect(fill({ a: "{a}", b: "<{a}>" }, values({ a: "{b}", b: "secret" }))).toEqual({ a: "{b}", b: "<{b}>" });
    expect(fillText("{a}", values({ a: "$& $1 $`" }))).toBe("$& $1 $`");
  });

  it("keeps keys as they are, even those that look like parameters", () => {
    expect(fill({ "{a}": "{a}" }, values({ a: 1 }))).toEqual({ "{a}": 1 });
  });

  it("gives back any JSON value that stands alone", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fill({ body: "{p}" }, values({ p: value as JsonValue }))).toEqual({ body: value });
      }),
    );
  });
});

function values(given: Record<string, JsonValue>, alsoDeclared: string[] = []): Values {
  return { declared: new Set([...Object.keys(given), ...alsoDeclared]), given: new Map(Object.entries(given)) };
}
