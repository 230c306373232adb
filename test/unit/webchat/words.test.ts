import { describe, expect, it } from "vitest";
import { wordsFor } from "./page.js";

describe("the page's words", () => {
  it.each([
    ["es-AR", "Escribí un mensaje"],
    ["es-UY", "Escribí un mensaje"],
    ["es", "Escribe un mensaje"],
    ["es-MX", "Escribe un mensaje"],
    ["pt-BR", "Escreva uma mensagem"],
    ["en-GB", "Write a message"],
    ["de-DE", "Write a message"],
    ["est", "Write a message"],
    [undefined, "Write a message"],
  ])("for %s", (language, write) => {
    expect(wordsFor(language).write).toBe(write);
  });

  it("are there in every language, and count", () => {
    const keys = Object.keys(wordsFor("en")).sort();
    for (const language of ["es", "es-AR", "pt-BR", "en"]) {
      const words = wordsFor(language);
      expect(Object.keys(words).sort()).toEqual(keys);
      for (const word of Object.values(words)) {
        const [one, two] = typeof word === "function" ? [word(1), word(2)] : [word, word];
        expect(one).not.toBe("");
        if (typeof word === "function")
          expect([one.includes("1"), two.includes("2"), one === two]).toEqual([true, true, false]);
      }
    }
  });
});
