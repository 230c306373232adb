import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalize } from "../../../src/canonical/index.js";
import { defaultWords, locales, type NoticeStyle, type NoticeValue, wordNotice } from "../../../src/gate/index.js";
import { readNotice } from "./notice-reader.js";

/** Texts that are made of what could forge: separators, quotes, escapes, other types' looks, marks, hidden characters. */
const forging = fc
  .array(
    fc.constantFrom(
      ...[
        "a",
        "b",
        "Ñ",
        "x1",
        "0",
        "1",
        "12",
        "-1",
        "1e5",
        "true",
        "null",
        "{}",
        "[]",
        "[0]",
        ".",
        ",",
        ", ",
        ": ",
        ":",
      ],
      ...[" ", "  ", '"', "\\", "\\u0041", "\\u", "(", ")", "_", "*", "`", "\n", "\t", "\u200b", "\u202e", "\u2028"],
      ...["\u0301", "é", "e", "\u0338", "\ufe0f", "👍", "\u{e0041}", "\u{1f468}\u200d\u{1f469}", "क्षि", "\u212b", "Å"],
      ...[
        "\ud800",
        "\udc00",
        "\u3164",
        "\u00a0",
        "\ufeff",
        "SI",
        "Voy a ejecutar: ",
        " con ",
        "sin argumentos",
        "$1,000.50",
        "각",
        "\u1100\u1161",
      ],
    ),
    { maxLength: 4 },
  )
  .map((pieces) => pieces.join(""));

const texts = fc.oneof(
  { weight: 4, arbitrary: forging },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
);
const keys = fc
  .oneof(fc.constantFrom("a", "b", "monto", "a.b", "c d", "toString", ""), texts)
  .filter((key) => key !== "__proto__");

const value = fc.letrec<{ value: NoticeValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    texts,
    fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(keys, tie("value"), { maxKeys: 3 }),
  ),
})).value;

const args = fc.dictionary(keys, value, { maxKeys: 4 });
const tools = fc.oneof(fc.constantFrom("praxis_crear_record", "borrar-todo"), texts);
const marks = fc.constantFrom("", "*_~`");

const styleOf = (locale: (typeof locales)[number], formattingMarks: string, addressee?: string): NoticeStyle => ({
  locale,
  words: defaultWords(locale),
  formattingMarks,
  maxLength: 1_000_000,
  ...(addressee === undefined ? {} : { addressee }),
});

function noticeOf(...input: Parameters<typeof wordNotice>): string {
  const notice = wordNotice(...input);
  if (!notice.ok) throw new Error(notice.reason);
  return notice.text;
}

describe("what is shown", () => {
  it("determines what runs: tool and arguments can be read back from it", () => {
    fc.assert(
      fc.property(
        tools,
        args,
        fc.constantFrom(...locales),
        marks,
        fc.option(texts),
        (tool, given, locale, mark, who) => {
          const notice = noticeOf({ tool, args: given }, styleOf(locale, mark, who ?? undefined));
          const read = readNotice(notice);
          expect(read.word).toBe((defaultWords(locale)[0] ?? "").toUpperCase());
          expect(read.tool).toBe(tool);
          expect(canonicalWithLoneSurrogates(read.args)).toBe(canonicalWithLoneSurrogates(given));
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("determines what runs when there are labels too", () => {
    const titles = fc.record({ a: texts, monto: texts, "a.b": texts });
    fc.assert(
      fc.property(args, titles, texts, marks, (given, argumentTitles, title, mark) => {
        const notice = noticeOf({ tool: "tool_x", args: given, title, argumentTitles }, styleOf("es-AR", mark));
        const read = readNotice(notice);
        expect(read.tool).toBe("tool_x");
        expect(canonicalWithLoneSurrogates(read.args)).toBe(canonicalWithLoneSurrogates(given));
      }),
      { numRuns: 1000 },
    );
  });

  it("is one line without anything that hides, and means the same to whoever composes it", () => {
    fc.assert(
      fc.property(tools, args, texts, marks, (tool, given, who, mark) => {
        const notice = noticeOf({ tool, args: given }, styleOf("es", mark, who));
        expect(notice).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]|\p{Default_Ignorable_Code_Point}/u);
        expect(notice).not.toMatch(/[^\P{Zs} ]|\u2800|\u20e3| {2}/u);
        expect(notice).not.toMatch(/[\u0334-\u0338]/u);
        expect(notice.normalize("NFC")).toBe(notice);
      }),
      { numRuns: 2000 },
    );
  });

  it("has no formatting: a channel's marks stand only inside of words, as an underscore", () => {
    fc.assert(
      fc.property(tools, args, texts, (tool, given, who) => {
        const notice = noticeOf({ tool, args: given }, styleOf("pt-BR", "*_~`", who));
        expect(notice).not.toMatch(/[*~`]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/u);
      }),
      { numRuns: 1000 },
    );
  });
});

/** Lone surrogates have no canonical form; the gate shows them all the same. */
function canonicalWithLoneSurrogates(value: NoticeValue): string {
  const mapped = (one: NoticeValue): NoticeValue => {
    if (typeof one === "string") return spelled(one);
    if (Array.isArray(one)) return one.map(mapped);
    if (typeof one === "object" && one !== null) {
      return Object.fromEntries(Object.entries(one).map(([key, member]) => [spelled(key), mapped(member)]));
    }
    return one;
  };
  return canonicalize(mapped(value));
}

function spelled(text: string): string {
  return text.replace(/\p{Surrogate}/gu, (lone) => `<${lone.charCodeAt(0).toString(16)}>`).replaceAll("<", "<<");
}
