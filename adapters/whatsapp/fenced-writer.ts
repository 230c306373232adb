import type { FencedState } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { backoff, pause } from "./pause.js";

export interface FencedWriterOptions {
  readonly fenced: FencedState;
  readonly fence: number;
  /** A later holder of the lease has written: this process has no say any more. */
  readonly onFenced: () => void;
  /** How often a write is tried while the store is away, and the first pause between; the later ones are longer. */
  readonly tries: number;
  readonly pauseMs: number;
  /** This process is to have no say any more: a write that fails is not tried again. */
  readonly over: AbortSignal;
}

/** Writes an account's state, as the holder of its lease. All or nothing; null deletes. */
export interface FencedWriter {
  /** @throws DaleError `lease_lost`, or what the store says when it is away */
  once(entries: Readonly<Record<string, string | null>>): Promise<void>;
  /** Waits for a store that is away, as long as it is worth it. @throws as `once`, at once for a lost lease */
  patiently(entries: Readonly<Record<string, string | null>>): Promise<void>;
}

export function createFencedWriter(options: FencedWriterOptions): FencedWriter {
  const { fenced, fence, over } = options;
  const writer: FencedWriter = {
    async once(entries) {
      if (await fenced.write(fence, entries)) return;
      options.onFenced();
      throw new DaleError("lease_lost", "Another process owns this account now.");
    },
    async patiently(entries) {
      for (let tries = 1; ; tries++) {
        try {
          return await writer.once(entries);
        } catch (error) {
          const lost = error instanceof DaleError && error.code === "lease_lost";
          if (lost || tries >= options.tries || over.aborted) throw error;
          const ms = backoff(options.pauseMs, tries, 20, () => 1);
          await pause(ms, over);
        }
      }
    },
  };
  return writer;
}
