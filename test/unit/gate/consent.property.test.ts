import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultWords, isConfirmation, locales, type Tolerance } from "../../../src/gate/index.js";

/**
 * The rule once more, said another way: a text is a yes when, decomposed and in lower case, it is the letters of one of
 * the words, each followed by any number of marks, with nothing but spaces and marks around them.
 */
function isYes(text: string, words: readonly string[], tolerate: readonly Tolerance[]): boolean {
  const decomposed = text.toLowerCase().normalize("NFD");
  const between = tolerate.includes("invisible") ? "[\\p{Mn}\\p{Cf}]*" : "\\p{Mn}*";
  const around = tolerate.includes("invisible") ? "[\\s\\p{Mn}\\p{Cf}]*" : "[\\s\\p{Mn}]*";
  const end = tolerate.includes("final_punctuation") ? `(?:[.!]${between})?` : "";
  const struck = ["\u0335", "\u0336", "\u0337", "\u0338"].some((overlay) => decomposed.includes(overlay));
  return (
    !struck &&
    words.some((word) => {
      const letters = [...word].map((letter) => letter + between).join("");
      return new RegExp(`^${around}${letters}${end}${around}$`, "u").test(decomposed);
    })
  );
}

const anyWords = fc.constantFrom(...locales).map(defaultWords);
const anyTolerance = fc.subarray<Tolerance>(["final_punctuation", "invisible"]);

/** Mostly yeses, bent a little: where a rule of equality is wrong, it is wrong near its words. */
const nearYes = fc
  .tuple(
    fc.constantFrom("si", "sí", "dale", "ok", "listo", "confirmo", "sim", "pode", "yes", "no"),
    fc.array(
      fc.record({
        at: fc.nat(12),
        what: fc.oneof(
          fc.constantFrom(
            ..." .!?,…\n\t\u00a0\ufeff\u0301\u0300\u0334\u0335\u0338\u200b\u200e\u2069\u00ad\u3164\u20e3\ufe0f",
          ),
          fc.constantFrom("K", "İ", "ı", "ſ", "о", "s", "I", " si", "¡"),
          fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
        ),
      }),
      { maxLength: 3 },
    ),
    fc.boolean(),
  )
  .map(([word, insertions, upper]) => {
    const characters = [...(upper ? word.toUpperCase() : word)];
    for (const { at, what } of insertions) characters.splice(at % (characters.length + 1), 0, what);
    return characters.join("");
  });

describe("consent over arbitrary Unicode", () => {
  it("is what the rule says, near the words", () => {
    let yeses = 0;
    fc.assert(
      fc.property(nearYes, anyWords, anyTolerance, (text, words, tolerate) => {
        const expected = isYes(text, words, tolerate);
        if (expected) yeses++;
        expect(isConfirmation(text, words, tolerate)).toBe(expected);
      }),
      { numRuns: 4000 },
    );
    expect(yeses).toBeGreaterThan(200);
  });

  it("is what the rule says, anywhere", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 8 }), anyWords, anyTolerance, (text, words, tolerate) => {
        expect(isConfirmation(text, words, tolerate)).toBe(isYes(text, words, tolerate));
      }),
      { numRuns: 2000 },
    );
  });

  it("is never a text with another letter or digit than those of one word", () => {
    fc.assert(
      fc.property(nearYes, (text) => {
        fc.pre(isConfirmation(text, defaultWords("es-AR"), ["final_punctuation", "invisible"]));
        const letters = text
          .toLowerCase()
          .normalize("NFD")
          .replace(/[^\p{L}\p{N}]/gu, "");
        expect(defaultWords("es-AR")).toContain(letters);
      }),
      { numRuns: 500 },
    );
  });
});
