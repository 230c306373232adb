import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitText, wellFormed } from "../../../src/channels/index.js";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const boundaries = (text: string) => new Set([...graphemes.segment(text)].map((one) => one.index));

/** Texts that have everything in them that is hard to cut. */
const hard = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
      { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
      fc.constantFrom(
        "\n",
        "\n\n",
        " ",
        "\r\n",
        "\t",
        "\u00a0",
        "👩‍👩‍👧",
        "🇦🇷",
        "🇦",
        "e\u0301",
        "क्षि",
        "\ud83d",
        "\ude00",
        "\u200d",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
      ),
      fc.constantFrom("word ", "a longer word ", "línea\n"),
    ),
    { maxLength: 60 },
  )
  .map((pieces) => pieces.join(""));
const limits = fc.integer({ min: 12, max: 90 });

describe("splitting a text", () => {
  it("leaves a text that fits as it is", () => {
    expect(splitText("hola", { limit: 4 }).parts).toEqual(["hola"]);
    expect(splitText("", { limit: 4 }).parts).toEqual([]);
  });

  it("prefers the end of a paragraph, then of a line, then of a word", () => {
    const limit = 20;
    expect(splitText("first one\n\nsecond\nthird", { limit }).parts).toEqual(["first one\n\n", "second\nthird"]);
    expect(splitText("first one and\nsecond one", { limit }).parts).toEqual(["first one and\n", "second one"]);
    expect(splitText("first one and then second", { limit }).parts).toEqual(["first one and then ", "second"]);
    expect(splitText("a".repeat(25), { limit }).parts).toEqual(["a".repeat(20), "a".repeat(5)]);
  });

  it("does not take an early line end for a good place", () => {
    expect(splitText(`ab\n${"c".repeat(30)}`, { limit: 20 }).parts).toEqual([`ab\n${"c".repeat(17)}`, "c".repeat(13)]);
  });

  it("does not cut at a no-break space", () => {
    const { parts } = splitText("pagás unos 184.000\u00a0pesos", { limit: 20 });
    expect(parts).toEqual(["pagás unos ", "184.000\u00a0pesos"]);
  });

  it("keeps an emoji of several code points whole", () => {
    const family = "👩‍👩‍👧‍👦";
    const { parts } = splitText(family.repeat(10), { limit: 30 });
    for (const part of parts) expect(part.length % family.length).toBe(0);
  });

  it("cuts a grapheme that is longer than the limit, but no surrogate pair", () => {
    const zalgo = `a${"\u0301".repeat(50)}`;
    expect(splitText(zalgo, { limit: 20 }).parts.join("")).toBe(zalgo);
    const joined = Array.from({ length: 40 }, () => "👩").join("\u200d");
    const { parts } = splitText(joined, { limit: 5 });
    expect(parts.join("").replaceAll("\u200d", "")).toBe("👩".repeat(40));
    for (const part of parts) expect(wellFormed(part)).toBe(part);
  });

  it("makes no message of blanks alone", () => {
    expect(splitText(" \n\u200b ", { limit: 10 }).parts).toEqual([]);
    expect(splitText(`${"x".repeat(20)}\n\n`, { limit: 20, whole: "n".repeat(20) }).parts).toEqual([
      "x".repeat(20),
      "n".repeat(20),
    ]);
    expect(splitText(`a${"\n".repeat(100)}b`, { limit: 20 }).parts.map((part) => part.trim())).toEqual(["a", "b"]);
  });

  it("keeps the block at the end whole, with the text before it where both fit", () => {
    expect(splitText("Debe 184.000.\n\n", { limit: 40, whole: "Para confirmar: SI" })).toEqual({
      parts: ["Debe 184.000.\n\nPara confirmar: SI"],
      wholeFrom: 15,
    });
    expect(splitText("Debe 184.000.\n\n", { limit: 20, whole: "Para confirmar: SI" })).toEqual({
      parts: ["Debe 184.000.\n\n", "Para confirmar: SI"],
      wholeFrom: 0,
    });
    expect(() => splitText("a", { limit: 10, whole: "n".repeat(11) })).toThrow(RangeError);
  });

  it("gives a text of 100 kB with emoji back without stopping the process", () => {
    const text = "👩‍👩‍👧 día de pago\u0301 ".repeat(5_000);
    const { parts } = splitText(text, { limit: 4096 });
    expect(parts.join("")).toBe(text);
  });

  it("puts U+FFFD for half a character, and changes no index", () => {
    expect(wellFormed("a\ud83db\ude00c\ude00\ud83d")).toBe("a\ufffdb\ufffdc\ufffd\ufffd");
    expect(wellFormed("👩‍👩‍👧 \ud83d\ude00")).toBe("👩‍👩‍👧 😀");
  });
});

describe("whatever the text and the limit", () => {
  /** What lies between the parts in the text, at the start and at the end. */
  const gaps = (text: string, parts: readonly string[]): string[] => {
    let at = 0;
    const found = parts.map((part) => {
      const next = text.indexOf(part, at);
      const gap = next < 0 ? "not found" : text.slice(at, next);
      at = next + part.length;
      return gap;
    });
    return [...found, text.slice(at)];
  };

  it("the parts joined give the text back, but for blanks that would be a message of their own", () => {
    fc.assert(
      fc.property(hard, limits, (raw, limit) => {
        const text = wellFormed(raw);
        const { parts } = splitText(raw, { limit });
        for (const gap of gaps(text, parts)) expect(gap).toMatch(/^[\s\p{Cc}\p{Cf}]*$/u);
        if (!/[\s\p{Cc}\p{Cf}]/u.test(text)) expect(parts.join("")).toBe(text);
      }),
    );
  });

  it("the parts joined give a text without long blanks back exactly", () => {
    const solid = fc.array(fc.constantFrom("ñandú", "a", "👩‍👩‍👧", " b", "\nc", "\n\nd", "🇦🇷", "e\u0301"), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(solid, limits, (pieces, limit) => {
        const text = pieces.join("");
        expect(splitText(text, { limit }).parts.join("")).toBe(text);
      }),
    );
  });

  it("each part is well-formed, seen, and within the limit", () => {
    fc.assert(
      fc.property(hard, limits, (text, limit) => {
        for (const part of splitText(text, { limit }).parts) {
          expect(part.length).toBeLessThanOrEqual(limit);
          expect(part).not.toMatch(/^[\s\p{Cc}\p{Cf}]*$/u);
          expect(wellFormed(part)).toBe(part);
        }
      }),
    );
  });

  it("no cut falls into a grapheme that fits", () => {
    fc.assert(
      fc.property(hard, limits, (raw, limit) => {
        const text = wellFormed(raw);
        const longest = Math.max(0, ...[...graphemes.segment(text)].map((one) => one.segment.length));
        fc.pre(longest <= limit);
        const ends = boundaries(text);
        let at = 0;
        for (const part of splitText(raw, { limit }).parts) {
          at = text.indexOf(part, at);
          expect(ends.has(at)).toBe(true);
          at += part.length;
          expect(ends.has(at) || at === text.length).toBe(true);
        }
      }),
    );
  });

  it("a protected block is the end of the last part, whole", () => {
    fc.assert(
      fc.property(hard, limits, hard, (text, limit, block) => {
        const whole = wellFormed(block.slice(0, limit));
        fc.pre(whole !== "");
        const { parts, wholeFrom } = splitText(text, { limit, whole });
        expect(parts.at(-1)?.slice(wholeFrom)).toBe(whole);
        for (const part of parts) expect(part.length).toBeLessThanOrEqual(limit);
      }),
    );
  });
});
