import { locales, noticePhrases } from "./locale.js";

/**
 * Makes whatever looks like a notice in a model's text plainly no notice: the line is quoted (`> `), and the phrase that
 * only the runtime may say is replaced. Sees through line breaks, invisible characters, accents, punctuation between
 * words, formatting marks, and the common look-alike letters and digits.
 */
export function neutralise(answer: string): string {
  const found = phrasesIn(answer);
  if (found.length === 0) return answer;
  let text = "";
  let from = 0;
  const quotedLines: number[] = [];
  for (const { start, end, marker } of found) {
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
  const fences = said.split("```").length - 1;
  return `${said}${fences % 2 === 1 ? "\n```" : ""}\n\n${notice}`;
}

interface Found {
  /** In UTF-16 units of the answer. */
  readonly start: number;
  readonly end: number;
  readonly marker: string;
}

const markers = {
  "es-AR": "[no es un aviso]",
  es: "[no es un aviso]",
  "pt-BR": "[não é um aviso]",
  en: "[not a notice]",
};

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
    c: "сϲᴄ",
    d: "ԁᴅ",
    e: "еεєᴇ3",
    f: "ƒꜰ",
    g: "ɡɢ",
    h: "һʜΗН",
    i: "іιıɪʟl1|ӏǀ",
    j: "јᴊ",
    k: "кκᴋ",
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

/** The phrases that only the runtime says, bare. What it is about to run counts only before a colon. */
const signatures = locales.flatMap((locale) => {
  const { ask, run } = noticePhrases[locale];
  return [
    { letters: bones(ask).letters, marker: markers[locale], colon: false },
    { letters: bones(run).letters, marker: markers[locale], colon: true },
  ];
});

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
      if (/^[a-z0-9]$/.test(letter)) {
        letters += letter;
        places.push({ start, end });
      }
    }
    start = end;
  }
  return { letters, places };
}
