import { pause } from "./pause.js";

/**
 * Pauses as a person makes them. WhatsApp looks for programs among the clients that it did not make; one that answers
 * whole paragraphs in the same instant is easily found.
 */
export interface Pacing {
  /** While the text is being "typed". */
  typing(text: string, signal?: AbortSignal): Promise<void>;
  /** Before a message counts as read. */
  reading(): Promise<void>;
}

const perCharacterMs = 18;
const shortestMs = 400;
const longestMs = 2_400;
const readingMs = 600;

export function createPacing(kind: "human" | "off", random: () => number): Pacing {
  if (kind === "off") return { typing: async () => {}, reading: async () => {} };
  const around = (ms: number) => ms * (0.75 + random() / 2);
  return {
    typing: (text, signal) =>
      pause(around(Math.min(longestMs, Math.max(shortestMs, text.length * perCharacterMs))), signal),
    reading: () => pause(around(readingMs)),
  };
}
