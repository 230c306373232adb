/** The longest text that patterns are run on, in UTF-16 code units. */
const MATCHED_LENGTH = 2000;

/** What patterns see of a text: lower case, no diacritics, single spaces. */
export function plainText(text: string): string {
  return text
    .slice(0, MATCHED_LENGTH)
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/\s+/g, " ")
    .trim();
}

const NUMBER_WORDS: readonly (readonly string[])[] = [
  ["cero", "zero"],
  ["un", "uno", "una", "one"],
  ["dos", "two"],
  ["tres", "three"],
  ["cuatro", "four"],
  ["cinco", "five"],
  ["seis", "six"],
  ["siete", "seven"],
  ["ocho", "eight"],
  ["nueve", "nine"],
  ["diez", "ten"],
  ["once", "eleven"],
  ["doce", "twelve"],
];

/** A whole number in digits or, up to twelve, in Spanish or English words. */
export function wholeNumber(text: string): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const index = NUMBER_WORDS.findIndex((words) => words.includes(text));
  return index < 0 ? undefined : index;
}

/**
 * The language of the newest text that tells one from the others, by counting words.
 * @param texts the person's texts, newest first
 */
export function languageOf(
  texts: readonly string[],
  words: Readonly<Record<string, ReadonlySet<string>>>,
  fallback: string,
): string {
  for (const text of texts) {
    const tokens = plainText(text).split(/[^\p{L}\p{N}]+/u);
    const scores = Object.entries(words)
      .map(([language, known]) => ({ language, score: tokens.filter((token) => known.has(token)).length }))
      .sort((a, b) => b.score - a.score);
    const [first, second] = scores;
    if (first !== undefined && first.score > (second?.score ?? 0)) return first.language;
  }
  return fallback;
}
