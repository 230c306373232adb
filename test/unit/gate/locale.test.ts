import { describe, expect, it } from "vitest";
import { defaultWords, isLocale, locales, reports } from "../../../src/gate/index.js";

describe("locales", () => {
  it("are four, each with its words", () => {
    expect(Object.fromEntries(locales.map((locale) => [locale, defaultWords(locale)]))).toEqual({
      "es-AR": ["si", "confirmo", "dale", "ok", "listo"],
      es: ["si", "confirmo", "dale", "ok", "listo"],
      "pt-BR": ["sim", "confirmo", "ok", "pode"],
      en: ["yes", "confirm", "ok"],
    });
  });

  it("are recognised by their exact name", () => {
    expect(locales.every(isLocale)).toBe(true);
    expect(["es-ar", "pt", "", "fr", "toString"].some(isLocale)).toBe(false);
  });
});

describe("the runtime's own reports", () => {
  const said = (locale: string) => {
    const { executed, failed, unknown, apology, nothing } = reports(locale);
    return [executed("crear_plan"), failed("crear_plan"), unknown("crear_plan"), apology, nothing];
  };
  const spanish = [
    "Se ejecutó crear_plan, pero no pude terminar de responder.",
    "Intenté ejecutar crear_plan y falló.",
    "No sé si crear_plan llegó a ejecutarse. No lo voy a repetir: una persona tiene que revisarlo.",
    "No pude procesar tu mensaje. No se ejecutó nada.",
    "No tengo nada para responder.",
  ];

  it.each([
    ["es-AR", spanish],
    ["es", spanish],
    [
      "pt-BR",
      [
        "crear_plan foi executado, mas não consegui terminar de responder.",
        "Tentei executar crear_plan e falhou.",
        "Não sei se crear_plan chegou a ser executado. Não vou repetir: uma pessoa precisa verificar.",
        "Não consegui processar sua mensagem. Nada foi executado.",
        "Não tenho nada para responder.",
      ],
    ],
    [
      "en",
      [
        "crear_plan was executed, but I could not finish my answer.",
        "I tried to run crear_plan and it failed.",
        "I do not know whether crear_plan was executed. I will not repeat it: a person has to check.",
        "I could not process your message. Nothing was executed.",
        "I have nothing to answer.",
      ],
    ],
    ["anything else", spanish],
  ])("say in %s what happened, and name the call", (locale, expected) => {
    expect(said(locale)).toEqual(expected);
  });
});
