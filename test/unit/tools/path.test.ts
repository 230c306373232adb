import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillPath } from "../../../src/agents/tools/path.js";
import { UnfitArgument, type Values } from "../../../src/agents/tools/template.js";

describe("a path", () => {
  it.each([
    ["a slash", "a/b"],
    ["a backslash", "a\\b"],
    ["an encoded slash", "a%2Fb"],
    ["an encoded backslash", "a%5cb"],
    ["a doubly encoded slash", "a%252fb"],
    ["a trebly encoded slash", "a%25252Fb"],
    ["one dot", "."],
    ["two dots", ".."],
    ["more dots", "..."],
    ["encoded dots", "%2e%2e"],
    ["doubly encoded dots", "%252e%252E"],
    ["dots with a path parameter", "..;a=b"],
    ["dots with an encoded path parameter", "..%3Bx"],
    ["dots and a blank", ".. "],
    ["nothing", ""],
    ["a NUL", "a\u0000"],
    ["an encoded NUL", "a%00"],
    ["a line break", "a\r\nb"],
    ["an encoded line break", "a%0d%0ab"],
    ["a lone surrogate", "a\ud800"],
  ])("refuses an argument that is %s", (_what, text) => {
    expect(() => fillPath("/records/{p}", values(text), new Set())).toThrow(UnfitArgument);
  });

  it("refuses dots that only the template makes whole", () => {
    expect(() => fillPath("/records/.{p}/x", values("."), new Set())).toThrow(UnfitArgument);
    expect(fillPath("/records/v{p}", values(".."), new Set())).toBe("/records/v..");
  });

  it("refuses to go without an argument that is part of it", () => {
    const missing: Values = { declared: new Set(["p"]), given: new Map() };
    expect(() => fillPath("/records/{p}", missing, new Set())).toThrow(/missing/);
  });

  it("lets an argument have slashes where the manifest allows them, segment by segment", () => {
    const allowed = new Set(["p"]);
    expect(fillPath("/files/{p}", values("2024/enero/a b.txt"), allowed)).toBe("/files/2024/enero/a%20b.txt");
    for (const text of ["../x", "a/../b", "a//b", "a/", "/a", "a/%2e%2e/b", "a/..", "a\\..\\b", "a/%2f/b"]) {
      expect(() => fillPath("/files/{p}", values(text), allowed), text).toThrow(UnfitArgument);
    }
  });

  it("keeps what the manifest wrote, a trailing slash included", () => {
    expect(fillPath("/a/{p}/", values("x"), new Set())).toBe("/a/x/");
    expect(fillPath("/a//b", values("x"), new Set())).toBe("/a//b");
  });

  it("encodes what a manifest writes as people do", () => {
    expect(fillPath("/año/{p}/«x»", values("ñ"), new Set())).toBe("/a%C3%B1o/%C3%B1/%C2%ABx%C2%BB");
  });

  it("either refuses a text or carries exactly it in one segment, whoever decodes once", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: fc.constantFrom(".", "/", "\\", "%", "2", "e", "f", "5", "c", ";", " ", "?", "#", "{", "}") }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const path = accepted(() => fillPath("/records/{p}/notes", values(text), new Set()));
        if (path === undefined) return;
        const url = new URL(`http://host${path}`);
        expect(url.pathname).toBe(path);
        expect(url.search + url.hash).toBe("");
        expect(path.split("/").map(decodeURIComponent)).toEqual(["", "records", text, "notes"]);
      }),
      { numRuns: 2000 },
    );
  });

  it("accepts ordinary texts", () => {
    for (const text of ["42", "cob_acuerdo", "Ñandú & Cía.", "50%", "a;b", "a.b", "..a", "a?b=c#d", "👍", "1e+21"]) {
      expect(decodeURIComponent(fillPath("/{p}", values(text), new Set()).slice(1))).toBe(text);
    }
  });
});

function values(text: string): Values {
  return { declared: new Set(["p"]), given: new Map([["p", text]]) };
}

function accepted(work: () => string): string | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof UnfitArgument) return undefined;
    throw error;
  }
}
