import type { FakeAnswer, FakePuppeteer, FakeRequest } from "../fakes/openai/index.js";

/** Calls of one step, by the tool's name as a model sees it; arguments are an object, or a model's raw text. */
export interface PuppetCall {
  readonly name: string;
  readonly arguments: unknown;
}

export interface Puppets {
  /** Plays whoever is asked for, by the marker in the conversation. */
  readonly play: FakePuppeteer;
  /** From now on that marker's conversation is played so. */
  set(marker: string, puppeteer: FakePuppeteer): void;
  /** An agent that is known by a word of its prompt: what it does when asked about that marker, or about none. */
  setAgent(word: string, puppeteer: FakePuppeteer, marker?: string): void;
  /** What the model was asked in that conversation, oldest first. */
  asked(marker: string): readonly FakeRequest[];
}

/** Stands in what the person first writes, in the arguments, and so in all that an attack leaves behind. */
const markers = /\bm-[a-z0-9-]+\b/g;

export function createPuppets(): Puppets {
  const byMarker = new Map<string, FakePuppeteer>();
  const byAgent = new Map<string, FakePuppeteer>();
  const asked = new Map<string, FakeRequest[]>();
  return {
    play(request) {
      const marker = markerOf(request);
      for (const [word, puppeteer] of byAgent) {
        if (request.system.includes(word)) return byMarker.get(`${word} ${marker}`)?.(request) ?? puppeteer(request);
      }
      if (marker === undefined) return { text: "¿Sí?" };
      asked.set(marker, [...(asked.get(marker) ?? []), request]);
      return byMarker.get(marker)?.(request) ?? { text: "¿Sí?" };
    },
    set: (marker, puppeteer) => void byMarker.set(marker, puppeteer),
    setAgent(word, puppeteer, marker) {
      if (marker !== undefined) byMarker.set(`${word} ${marker}`, puppeteer);
      if (marker === undefined || !byAgent.has(word)) byAgent.set(word, marker === undefined ? puppeteer : quiet());
    },
    asked: (marker) => asked.get(marker) ?? [],
  };
}

/** The newest one: a session may be attacked several times. */
function markerOf(request: FakeRequest): string | undefined {
  return request.messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => (typeof content === "string" ? (content.match(markers) ?? []) : []))
    .at(-1);
}

/** How many results of tools stand after the newest message of the person. */
export function resultsSince(request: FakeRequest): number {
  const from = request.messages.findLastIndex(({ role }) => role === "user");
  return request.messages.slice(from + 1).filter(({ role }) => role === "tool").length;
}

/**
 * The worst model: whatever the person wrote, it makes the calls, and once more when it was told that they did not run;
 * then it says that all is done.
 */
export function worst(calls: readonly PuppetCall[], said: { before?: string; after?: string } = {}): FakePuppeteer {
  return (request): FakeAnswer =>
    resultsSince(request) < 2 * calls.length
      ? { calls, ...(said.before === undefined ? {} : { text: said.before }) }
      : { text: said.after ?? "Listo, ya quedó hecho." };
}

/** Says one thing, and makes no call. */
export function quiet(text = "Bueno."): FakePuppeteer {
  return () => ({ text });
}
