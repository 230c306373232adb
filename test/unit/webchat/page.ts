import type { LogLine, Message, MessageState, Reply, Unsent } from "../../../adapters/webchat/page/shapes.js";

/** The page's modules are plain JavaScript: what they take and give is said here for the tests. */
const page = (name: string): Promise<unknown> =>
  import(new URL(`../../../adapters/webchat/page/${name}.js`, import.meta.url).href);

export interface Neighbours {
  readonly previous: Message | undefined;
  readonly next: Message | undefined;
}

export interface Transcript {
  apply(line: LogLine): boolean;
  add(unsent: Unsent, state: "waiting" | "failed"): void;
  become(id: string, state: MessageState, failure?: string): void;
  taken(id: string): void;
  remove(id: string): void;
  clear(): void;
  all(): readonly Message[];
}

export interface Outbox {
  restore(): readonly Unsent[];
  add(message: Unsent): void;
  resume(): void;
  retry(message: Unsent): void;
  discard(id: string): void;
  find(id: string): Unsent | undefined;
}

export interface OutboxOptions {
  readonly post: (message: Unsent) => Promise<Reply<unknown>>;
  readonly onState: (id: string, state: string, failure?: string) => void;
  readonly onStrange: () => void;
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined;
  readonly pause?: (ms: number) => Promise<void>;
}

export const { createTranscript } = (await page("transcript")) as {
  createTranscript(
    onChange: (message: Message, neighbours: Neighbours) => void,
    onGone: (message: Message) => void,
  ): Transcript;
};

export const { createOutbox } = (await page("outbox")) as { createOutbox(options: OutboxOptions): Outbox };

export const { wordsFor } = (await page("words")) as {
  wordsFor(language: string | undefined): Readonly<Record<string, string | ((count: number) => string)>>;
};

export type { LogLine, Message, Reply, Unsent };
