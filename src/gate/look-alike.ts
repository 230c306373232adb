import { noticePhrases } from "./locale.js";

/**
 * Makes whatever looks like a notice in a model's text plainly no notice: the line is quoted (`> `), and the phrase that
 * only the runtime may say is replaced. Sees through line breaks, invisible characters, accents, punctuation between
 * words, formatting marks, and the common look-alike letters and digits.
 */
export function neutralise(answer: string): string {
  let text = "";
  let from = 0;
  const quotedLines: number[] = [];
  for (const { start, end, marker } of phrasesIn(answer)) {
    text += answer.slice(from, start);
    quotedLines.push(text.lastIndexOf("\n") + 1);
    text += marker;
    from = end;
  }
  text += answer.slice(from);
  for (const line of [...new Set(quotedLines)].reverse()) text = `${text.slice(0, line)}> ${text.slice(line)}`;
  return text;
}

/** Puts the notice last, on lines of its own, outside of any code fence that the answer left open. */
export function appendNotice(answer: string, notice: string): string {
  const said = neutralise(answer).trimEnd();
  if (said === "") return notice;
  const open = said.split("```").length % 2 === 0;
  return `${said}${open ? "\n```" : ""}\n\n${notice}`;
}

interface Found {
  /** In UTF-16 units of the answer. */
  readonly start: number;
  readonly end: number;
  readonly marker: string;
}

function phrasesIn(answer: string): readonly Found[] {
  const { letters, places } = bones(answer);
  const found = new Map<number, Found>();
  for (const { letters: phrase, marker, colon } of signatures) {
    for (let at = letters.indexOf(phrase); at >= 0; at = letters.indexOf(phrase, at + phrase.length)) {
      const start = places[at]?.start ?? 0;
      const end = places[at + phrase.length - 1]?.end ?? answer.length;
      if (colon && !/^[^\p{L}\p{N}]*[:：﹕꞉∶ː܃]/u.test(answer.slice(end, end + 20))) continue;
      found.set(start, { start, end, marker });
    }
  }
  return [...found.values()].sort((one, other) => one.start - other.start);
}

/**
 * Letters of other scripts, and digits, that pass for Latin ones; by the capital where capitals alone look alike.
 * `l`, `1`, `|` and `i` are all `i`.
 */
const passesFor: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: "аαɑᴀ4@",
    c: "сςᴄ",
    d: "ԁᴅ",
    e: "еεєᴇ3",
    f: "ƒꜰ",
    i: "іιıɪʟl1|ӏǀ",
    j: "јᴊ",
    m: "мᴍ",
    n: "ոηɴΝ",
    o: "оοօᴏ0",
    p: "рρᴘ",
    r: "гʀ",
    s: "ѕꜱ5",
    t: "тτᴛ7",
    u: "υսᴜ",
    v: "ѵνᴠ",
    w: "ԝωᴡ",
    x: "хχ",
    y: "уγүʏΥ",
  }).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
);

/**
 * The phrases that only the runtime says, bare (those of es-AR are then those of es). What it is about to run counts only
 * before a colon.
 */
const signatures = [noticePhrases.es, noticePhrases["pt-BR"], noticePhrases.en].flatMap(({ ask, run, not }) => [
  { letters: bones(ask).letters, marker: not, colon: false },
  { letters: bones(run).letters, marker: not, colon: true },
]);

interface Bones {
  readonly letters: string;
  /** Where each of the letters stands in the text. */
  readonly places: readonly { readonly start: number; readonly end: number }[];
}

/** The letters of a text alone, as a hasty reader takes them. */
function bones(text: string): Bones {
  let letters = "";
  const places: { start: number; end: number }[] = [];
  let start = 0;
  for (const character of text) {
    const end = start + character.length;
    const last = places.at(-1);
    if (last && /\p{M}/u.test(character)) last.end = end;
    for (const part of character.normalize("NFKD")) {
      const small = part.toLowerCase();
      const letter = passesFor.get(part) ?? passesFor.get(small) ?? small;
      if (/[a-z0-9]/.test(letter)) {
        letters += letter;
        places.push({ start, end });
      }
    }
    start = end;
  }
  return { letters, places };
}
