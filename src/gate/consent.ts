/**
 * What the gate may know of a person's message. It is made by `humanFacts` from a channel's normal form, and there is
 * no other way to make one: a model's text has no provenance.
 */
export interface HumanFacts {
  /** The platform's id of the message. */
  readonly message: string;
  readonly words: TypedWords;
  /** Platform id of the message that the person answered or quoted. */
  readonly quotes?: string;
  /** By the platform's clock, ms; `sentAtResolution` says how coarse it is (1000 on Telegram and WhatsApp). */
  readonly sentAt: number;
  readonly sentAtResolution: number;
  /** By our clock, ms. */
  readonly receivedAt: number;
  readonly order?: number;
}

declare const typedWords: unique symbol;
/** Raw text as a person typed it, or null for a message that was not typed. Only `humanFacts` makes the first. */
export type TypedWords = (string & { readonly [typedWords]: true }) | null;

export type Tolerance = "final_punctuation" | "invisible";

/** The part of a channel's inbound message that bears on consent. `src/channels`' InboundMessage fits. */
export interface PersonMessage {
  readonly id: string;
  readonly text: string;
  /** How the text came to be; only `typed` gives words. */
  readonly provenance: string;
  readonly quotes?: string;
  readonly sentAt: number;
  /** Ms. Default 1000: the coarsest clock of any platform. */
  readonly sentAtResolution?: number;
  readonly receivedAt: number;
  readonly order?: number;
}

/** The only maker of `HumanFacts`: words are kept only of a text that the person typed. */
export function humanFacts(message: PersonMessage): HumanFacts {
  return {
    message: message.id,
    words: message.provenance === "typed" ? (message.text as TypedWords) : null,
    ...(message.quotes === undefined ? {} : { quotes: message.quotes }),
    sentAt: message.sentAt,
    sentAtResolution: message.sentAtResolution ?? 1000,
    receivedAt: message.receivedAt,
    ...(message.order === undefined ? {} : { order: message.order }),
  };
}

/** U+0335 to U+0338, what "strike-through text" generators put over every letter. */
const struckThrough = /[\u0335-\u0338]/;

/**
 * Whether a raw text is a yes: lowercase (not locale-aware), NFD, without combining marks (Mn), trimmed, and then equal
 * to one of the words. A phrase is never one, nor is a text that is struck through.
 *
 * @param words already normalised, by `createWords`
 * @param tolerate `final_punctuation`: one full stop or exclamation mark may follow the word. `invisible`: format
 *   characters (Cf) anywhere are as if they were not there. Neither unless it is asked for.
 */
export function isConfirmation(text: string, words: readonly string[], tolerate: readonly Tolerance[] = []): boolean {
  if (struckThrough.test(text)) return false;
  const said = normalise(tolerate.includes("invisible") ? text.replace(/\p{Cf}/gu, "") : text);
  if (words.includes(said)) return true;
  return tolerate.includes("final_punctuation") && words.some((word) => said === `${word}.` || said === `${word}!`);
}

function normalise(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .trim();
}

export type WordsCheck =
  | { readonly ok: true; readonly words: readonly string[] }
  /** `problem`: what is wrong and what to write instead, in a sentence. */
  | { readonly ok: false; readonly problem: string };

/** Words that would turn a refusal into a consent. */
const refusals = new Set(["no", "nao", "not", "nope", "cancelar", "cancel"]);

/**
 * Checks the operator's words at boot and normalises them the way a person's text is. Order is kept (the notice asks
 * for the first), and what comes to the same word twice stands once.
 */
export function createWords(list: readonly string[]): WordsCheck {
  if (list.length === 0) return { ok: false, problem: "The list of words is empty: nobody could confirm anything." };
  const words = new Set<string>();
  for (const given of list) {
    const problem = problemOf(given);
    if (problem !== undefined) {
      return { ok: false, problem: `${JSON.stringify(given)} cannot be a word of consent: ${problem}.` };
    }
    words.add(normalise(given));
  }
  return { ok: true, words: [...words] };
}

function problemOf(given: string): string | undefined {
  if (struckThrough.test(given)) return "it is struck through";
  const word = normalise(given);
  if (word === "") return "nothing is left of it without accents and spaces";
  if (/\s/.test(word)) return "it is more than one word, and a phrase is never a confirmation";
  if (!/^[\p{L}\p{N}](?:[\p{L}\p{N}'’-]*[\p{L}\p{N}])?$/u.test(word)) return "a word is made of letters and digits";
  if (refusals.has(word)) return "people say it to refuse";
  if (normalise(word.toUpperCase()) !== word) return "the notice asks for it in upper case, which is another word";
  return undefined;
}
