import { backoff, pause } from "./pause.js";

/** Hands things over one after the other, in order, each until it is taken: however long the store is away. */
export interface Inbox<T> {
  /** Never throws, never waits: event listeners of Baileys must do neither. */
  add(item: T): void;
  /** What has not been taken yet. */
  waiting(): readonly T[];
  /** Nothing is handed over until `release`. */
  hold(): void;
  /** @param order what was held is handed over in this order; what compares equal, as it came */
  release(order?: (one: T, other: T) => number): void;
  /** Hands over no more. Resolves when nothing is under way. */
  stop(): Promise<void>;
}

export interface InboxOptions<T> {
  /** Rejects when the item is to be handed over again. */
  readonly take: (item: T) => Promise<void>;
  /** Told of each rejection. */
  readonly onRefused: (error: unknown) => void;
  /** First pause after a rejection, ms. */
  readonly retryMs: number;
}

export function createInbox<T>(options: InboxOptions<T>): Inbox<T> {
  const items: T[] = [];
  const stopped = new AbortController();
  let held = false;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    for (let failures = 0; !held && !stopped.signal.aborted; ) {
      const [item] = items;
      if (item === undefined) return;
      try {
        await options.take(item);
        items.splice(items.indexOf(item), 1);
        failures = 0;
      } catch (error) {
        options.onRefused(error);
        await pause(
          backoff(options.retryMs, ++failures, 20, () => 1),
          stopped.signal,
        );
      }
    }
  }
  function go(): void {
    if (running || held) return;
    // Later, so that whoever adds something is never kept by what it comes to.
    const begun = Promise.resolve().then(run);
    running = begun.finally(() => {
      running = undefined;
      // Something may have come in while the last run was ending.
      if (items.length > 0 && !held && !stopped.signal.aborted) go();
    });
  }

  return {
    add(item) {
      if (stopped.signal.aborted) return;
      items.push(item);
      go();
    },
    waiting: () => items,
    hold() {
      held = true;
    },
    release(order) {
      if (held && order) items.sort(order);
      held = false;
      go();
    },
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
