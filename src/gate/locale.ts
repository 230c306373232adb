export type Locale = "es-AR" | "es" | "pt-BR" | "en";

export const locales: readonly Locale[] = ["es-AR", "es", "pt-BR", "en"];

export function isLocale(text: string): text is Locale {
  return (locales as readonly string[]).includes(text);
}

const spanishWords = ["si", "confirmo", "dale", "ok", "listo"];
const words: Readonly<Record<Locale, readonly string[]>> = {
  "es-AR": spanishWords,
  es: spanishWords,
  "pt-BR": ["sim", "confirmo", "ok", "pode"],
  en: ["yes", "confirm", "ok"],
};

/** The words of consent where the operator sets none; normalised already. */
export function defaultWords(locale: Locale): readonly string[] {
  return words[locale];
}

/** How the notice is put: the word follows `ask`, the call `run`, the arguments `with`; `not` stands where a model imitates it. */
export interface NoticePhrases {
  readonly ask: string;
  readonly only: string;
  readonly run: string;
  readonly with: string;
  readonly nothing: string;
  readonly not: string;
}

const spanishPhrases = {
  only: "Solo vale la respuesta de",
  run: "Voy a ejecutar:",
  with: "con",
  nothing: "sin argumentos",
  not: "[no es un aviso]",
};

export const noticePhrases: Readonly<Record<Locale, NoticePhrases>> = {
  "es-AR": { ...spanishPhrases, ask: "Para confirmar respondé" },
  es: { ...spanishPhrases, ask: "Para confirmar responde" },
  "pt-BR": {
    ask: "Para confirmar responda",
    only: "Só vale a resposta de",
    run: "Vou executar:",
    with: "com",
    nothing: "sem argumentos",
    not: "[não é um aviso]",
  },
  en: {
    ask: "To confirm reply",
    only: "Only the reply counts of",
    run: "I will run:",
    with: "with",
    nothing: "without arguments",
    not: "[not a notice]",
  },
};

/** What the runtime itself says about gated calls: true whatever the model says. `tool` is the technical name. */
export interface Reports {
  executed(tool: string): string;
  /** No more than that: an error that a back end answers may come after it has done something. */
  failed(tool: string): string;
  unknown(tool: string): string;
  /** Nothing was executed, and the message could not be answered. */
  readonly apology: string;
  /** The agent answered nothing. */
  readonly nothing: string;
}

const spanishReports: Reports = {
  executed: (tool) => `Se ejecutó ${tool}, pero no pude terminar de responder.`,
  failed: (tool) => `Intenté ejecutar ${tool} y falló.`,
  unknown: (tool) => `No sé si ${tool} llegó a ejecutarse. No lo voy a repetir: una persona tiene que revisarlo.`,
  apology: "No pude procesar tu mensaje. No se ejecutó nada.",
  nothing: "No tengo nada para responder.",
};

const reportsOf: Readonly<Record<Locale, Reports>> = {
  "es-AR": spanishReports,
  es: spanishReports,
  "pt-BR": {
    executed: (tool) => `${tool} foi executado, mas não consegui terminar de responder.`,
    failed: (tool) => `Tentei executar ${tool} e falhou.`,
    unknown: (tool) => `Não sei se ${tool} chegou a ser executado. Não vou repetir: uma pessoa precisa verificar.`,
    apology: "Não consegui processar sua mensagem. Nada foi executado.",
    nothing: "Não tenho nada para responder.",
  },
  en: {
    executed: (tool) => `${tool} was executed, but I could not finish my answer.`,
    failed: (tool) => `I tried to run ${tool} and it failed.`,
    unknown: (tool) => `I do not know whether ${tool} was executed. I will not repeat it: a person has to check.`,
    apology: "I could not process your message. Nothing was executed.",
    nothing: "I have nothing to answer.",
  },
};

/** @param locale anything that is no known locale is taken for es-AR, the default */
export function reports(locale: string): Reports {
  return reportsOf[isLocale(locale) ? locale : "es-AR"];
}
