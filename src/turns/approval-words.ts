import { isLocale, type Locale } from "../gate/index.js";

/** What the runtime itself tells a person of a call that somebody else approves. `call` is shown as in a notice. */
export interface ApprovalWords {
  asked(call: string): string;
  executed(call: string): string;
  failed(call: string): string;
  unknown(call: string): string;
  rejected(call: string): string;
  expired(call: string): string;
}

const spanish: ApprovalWords = {
  asked: (call) => `Esto lo tiene que aprobar otra persona, y todavía no se hizo: ${call}. Te aviso cuando lo decida.`,
  executed: (call) => `Se aprobó y quedó hecho: ${call}.`,
  failed: (call) => `Se aprobó, pero falló y no quedó hecho: ${call}.`,
  unknown: (call) =>
    `Se aprobó, pero no sé si llegó a hacerse: ${call}. No lo voy a repetir: una persona tiene que revisarlo.`,
  rejected: (call) => `No se aprobó, así que no se hizo: ${call}.`,
  expired: (call) => `Nadie lo aprobó a tiempo, así que no se hizo: ${call}.`,
};

const wordsOf: Readonly<Record<Locale, ApprovalWords>> = {
  "es-AR": spanish,
  es: spanish,
  "pt-BR": {
    asked: (call) => `Outra pessoa precisa aprovar isto, e ainda não foi feito: ${call}. Aviso quando houver decisão.`,
    executed: (call) => `Foi aprovado e está feito: ${call}.`,
    failed: (call) => `Foi aprovado, mas falhou e não foi feito: ${call}.`,
    unknown: (call) =>
      `Foi aprovado, mas não sei se chegou a ser feito: ${call}. Não vou repetir: uma pessoa precisa verificar.`,
    rejected: (call) => `Não foi aprovado, então não foi feito: ${call}.`,
    expired: (call) => `Ninguém aprovou a tempo, então não foi feito: ${call}.`,
  },
  en: {
    asked: (call) =>
      `Somebody else has to approve this, and it is not done yet: ${call}. I will tell you once they decide.`,
    executed: (call) => `It was approved and is done: ${call}.`,
    failed: (call) => `It was approved, but it failed and was not done: ${call}.`,
    unknown: (call) =>
      `It was approved, but I do not know whether it was done: ${call}. I will not repeat it: a person has to check.`,
    rejected: (call) => `It was not approved, so it was not done: ${call}.`,
    expired: (call) => `Nobody approved it in time, so it was not done: ${call}.`,
  },
};

/** @param locale anything that is no known locale is taken for es-AR, the default */
export function approvalWords(locale: string): ApprovalWords {
  return wordsOf[isLocale(locale) ? locale : "es-AR"];
}
