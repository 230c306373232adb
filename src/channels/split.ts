/** A text as it goes out: some messages, each within the platform's limit. */
export interface SplitText {
  /** In the order of the text; none is empty or blank. */
  readonly parts: readonly string[];
  /** Where in the last part the block begins that was to be kept whole. */
  readonly wholeFrom?: number;
}

export interface SplitOptions {
  /** Longest part, in UTF-16 code units; at least 2. */
  readonly limit: number;
  /** A block that ends the text and is never cut, nor moved from the end: a notice. At most `limit` long. */
  readonly whole?: string;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const paragraphEnd = /\n[^\S\n]*\n/g;
const lineEnd = /\n/g;
/** No-break spaces are none. */
const wordEnd = /[ \t\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]/g;
/** Nothing to see: platforms refuse such a message. */
const blank = /^[\s\p{Cc}\p{Cf}]*$/u;

/** The same text with U+FFFD for each half of a surrogate pair. Its length, and every index into it, stay. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/**
 * Cuts `text` followed by `whole` into messages. Joined, the parts give the well-formed text back, but for blanks that
 * would have been a message of their own. A cut never falls into a grapheme, unless that one alone exceeds the limit,
 * and never into a surrogate pair; it prefers the end of a paragraph, then of a line, then of a word.
 * @throws RangeError when `whole` does not fit in one part
 */
export function splitText(text: string, options: SplitOptions): SplitText {
  const { limit } = options;
  const whole = wellFormed(options.whole ?? "");
  if (limit < 2) throw new RangeError(`A limit of ${limit} is too small.`);
  if (whole.length > limit) throw new RangeError(`A block of ${whole.length} does not fit in ${limit}.`);
  const parts = cut(wellFormed(text), limit);
  if (whole === "") return { parts: parts.filter((part) => !blank.test(part)) };
  const before = parts.at(-1) ?? "";
  const joined = before.length + whole.length <= limit;
  const last = joined ? before + whole : whole;
  const earlier = (joined ? parts.slice(0, -1) : parts).filter((part) => !blank.test(part));
  return { parts: [...earlier, last], wholeFrom: last.length - whole.length };
}

function cut(text: string, limit: number): string[] {
  const parts: string[] = [];
  let start = 0;
  while (text.length - start > limit) {
    // Segmenting is only ever asked of one window: over a long text it blocks the process (80,000 UTF-16 units with
    // emoji: 11.8 s). Whether a grapheme ends at `limit` depends on nothing beyond the code point that follows.
    const window = text.slice(start, start + limit + 2);
    const length = cutOf(window, limit);
    parts.push(text.slice(start, start + length));
    start += length;
  }
  if (start < text.length) parts.push(text.slice(start));
  return parts;
}

/** How much of the window makes one part: 1 … limit. */
function cutOf(window: string, limit: number): number {
  const segments = graphemes.segment(window);
  const startsGrapheme = (index: number) => segments.containing(index)?.index === index;
  for (const end of [paragraphEnd, lineEnd, wordEnd]) {
    const last = lastEnd(window, end, limit);
    if (last !== undefined && startsGrapheme(last)) return last;
  }
  const begins = segments.containing(limit)?.index ?? limit;
  if (begins > 0) return begins;
  const inPair = /[\ud800-\udbff]/.test(window.charAt(limit - 1)) && /[\udc00-\udfff]/.test(window.charAt(limit));
  return inPair ? limit - 1 : limit;
}

/** The last index in the second half of the window that follows a match of `end`. */
function lastEnd(window: string, end: RegExp, limit: number): number | undefined {
  let found: number | undefined;
  for (const match of window.slice(0, limit).matchAll(end)) {
    const index = match.index + match[0].length;
    if (index >= limit / 2) found = index;
  }
  return found;
}
