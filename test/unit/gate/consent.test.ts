import { describe, expect, it } from "vitest";
import {
  createWords,
  defaultWords,
  humanFacts,
  isConfirmation,
  type Locale,
  locales,
  type PersonMessage,
} from "../../../src/gate/index.js";
import cases from "../../fixtures/consent-words.json" with { type: "json" };

const words = defaultWords("es-AR");

describe("a confirmation", () => {
  it.each(cases.yes)("is %j", (text) => {
    expect(isConfirmation(text, words)).toBe(true);
  });

  it.each(cases.no)("is not %j", (text) => {
    expect(isConfirmation(text, words)).toBe(false);
  });

  it.each([
    ["\u0335", "s\u0335i"],
    ["\u0336", "s\u0336i"],
    ["\u0337", "si\u0337"],
    ["\u0338", "\u0338si"],
  ])("is never struck through with %j", (_overlay, text) => {
    expect(isConfirmation(text, words)).toBe(false);
    expect(isConfirmation(text, words, ["invisible", "final_punctuation"])).toBe(false);
  });

  it("may carry any other combining mark", () => {
    expect(isConfirmation("s\u0334i\u0339", words)).toBe(true);
  });

  it("is one of the words given, and no other", () => {
    expect(isConfirmation("SIM", defaultWords("pt-BR"))).toBe(true);
    expect(isConfirmation("si", defaultWords("pt-BR"))).toBe(false);
    expect(isConfirmation("Yes", defaultWords("en"))).toBe(true);
    expect(isConfirmation("si", [])).toBe(false);
  });
});

describe("tolerating final punctuation", () => {
  const tolerant = (text: string) => isConfirmation(text, words, ["final_punctuation"]);

  it.each(["Si.", "Sí!", " SI. ", "Dale.", "ok!\n"])("takes %j for a yes", (text) => {
    expect(tolerant(text)).toBe(true);
  });

  it.each(["sí?", "ok?", "sí,", "si...", "sí…", ".si", "¡Sí!", "si .", "si.!", ".", "no.", "si\u200b."])(
    "does not take %j for a yes",
    (text) => {
      expect(tolerant(text)).toBe(false);
    },
  );

  it("still takes the bare word", () => {
    expect(tolerant("si")).toBe(true);
  });
});

describe("tolerating invisible characters", () => {
  const tolerant = (text: string) => isConfirmation(text, words, ["invisible"]);

  it.each([
    "si\u200b",
    "\u200esi",
    "SI\u200e",
    "s\u00adi",
    "\u2066si\u2069",
    "si \u200f",
    "\ufeffs\ufeffi",
    "s\u{e0041}i",
  ])("takes %j for a yes", (text) => {
    expect(tolerant(text)).toBe(true);
  });

  it.each(["\u202eis\u202c", "s\u2800i", "s\u3164i", "si.", "no\u200b", "\u200b"])(
    "does not take %j for a yes",
    (text) => {
      expect(tolerant(text)).toBe(false);
    },
  );

  it("goes together with final punctuation", () => {
    expect(isConfirmation(" Sí\u200b.\u200e ", words, ["invisible", "final_punctuation"])).toBe(true);
  });
});

describe("the operator's words", () => {
  it("are normalised like a person's text, in their order, each once", () => {
    expect(createWords(["Sí", " DALE ", "si", "s", "d'accord", "of-course", "vale2"])).toEqual({
      ok: true,
      words: ["si", "dale", "s", "d'accord", "of-course", "vale2"],
    });
  });

  it.each(locales)("of %s are words by the same rule, unchanged", (locale: Locale) => {
    expect(createWords(defaultWords(locale))).toEqual({ ok: true, words: defaultWords(locale) });
  });

  it.each([
    ["an empty list", [], "The list of words is empty: nobody could confirm anything."],
    ["a phrase", ["si", "si dale"], '"si dale" cannot be a word of consent: it is more than one word, and a phrase is'],
    ["two words with another space", ["si\u00a0dale"], "it is more than one word"],
    ["nothing", [""], '"" cannot be a word of consent: nothing is left of it without accents and spaces.'],
    ["a bare accent", ["\u0301"], "nothing is left of it"],
    ["spaces", ["  "], "nothing is left of it"],
    ["a word that is struck through", ["s\u0336i"], "it is struck through"],
    ["an emoji", ["👍"], "a word is made of letters and digits"],
    ["punctuation", ["si."], "a word is made of letters and digits"],
    ["punctuation before", [".si"], "a word is made of letters and digits"],
    ["punctuation inside", ["s.i"], "a word is made of letters and digits"],
    ["punctuation alone", ["-"], "a word is made of letters and digits"],
    ["an invisible character", ["si\u200b"], "a word is made of letters and digits"],
    ["a refusal", ["No"], '"No" cannot be a word of consent: people say it to refuse.'],
    ["a refusal with an accent", ["NÃO"], "people say it to refuse"],
    ["another refusal", ["not"], "people say it to refuse"],
    ["one more refusal", ["Nope"], "people say it to refuse"],
    ["a cancellation", ["cancelar"], "people say it to refuse"],
    ["an English cancellation", ["Cancel"], "people say it to refuse"],
    ["a word with another upper case", ["groß"], "the notice asks for it in upper case, which is another word"],
  ])("refuse to be %s", (_what, list, problem) => {
    const check = createWords(list);
    expect(check.ok).toBe(false);
    expect(check).toHaveProperty("problem", expect.stringContaining(problem));
  });
});

describe("the facts of a message", () => {
  const message: PersonMessage = {
    id: "wamid.1",
    text: " Sí ",
    provenance: "typed",
    sentAt: 5000,
    receivedAt: 5123,
  };

  it("keep the text as it was typed", () => {
    expect(humanFacts(message)).toEqual({
      message: "wamid.1",
      words: " Sí ",
      sentAt: 5000,
      sentAtResolution: 1000,
      receivedAt: 5123,
    });
  });

  it("say what was quoted, where it stands, and how coarse its time is", () => {
    expect(humanFacts({ ...message, quotes: "wamid.0", order: 7, sentAtResolution: 1 })).toMatchObject({
      quotes: "wamid.0",
      order: 7,
      sentAtResolution: 1,
    });
  });

  it.each([
    "caption",
    "forwarded",
    "edited",
    "quoted_other",
    "button",
    "transcript",
    "via_bot",
    "bot",
    "echo",
    "system",
    "TYPED",
    "",
    "anything new",
  ])("have no words when the text came as %j", (provenance) => {
    expect(humanFacts({ ...message, provenance }).words).toBeNull();
  });

  it("take nothing else from the message", () => {
    const whole = { ...message, senderName: "si", chat: "c", attachments: [] };
    expect(Object.keys(humanFacts(whole))).toEqual(["message", "words", "sentAt", "sentAtResolution", "receivedAt"]);
  });
});
