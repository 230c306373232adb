import type { OrderScripts, Unburied } from "./order-scripts.js";

export interface LineSweeperOptions {
  readonly scripts: OrderScripts;
  readonly everyMs: number;
  /** A head that BullMQ holds for finished, although its line does not know of it. */
  readonly bury: (head: Unburied) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export interface LineSweeper {
  stop(): void;
}

const linesAtOnce = 500;

/** Looks at every line that has not moved for a while, and gets it to move. All consumers share the work. */
export function startLineSweeper(options: LineSweeperOptions): LineSweeper {
  const { scripts } = options;
  let stopped = false;
  let timer: NodeJS.Timeout;

  async function sweep(): Promise<void> {
    for (let looked = linesAtOnce; looked === linesAtOnce && !stopped; ) {
      const found = await scripts.sweep(linesAtOnce);
      for (const head of found.unburied) await options.bury(head);
      looked = found.looked;
    }
  }

  const later = () => {
    timer = setTimeout(async () => {
      await sweep().catch(options.onError);
      if (!stopped) later();
    }, options.everyMs);
    timer.unref();
  };
  later();

  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
