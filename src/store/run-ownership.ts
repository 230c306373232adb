/** The lock that a running job holds, as seen from here. */
export interface Holding {
  /** Aborts when the lock was lost, or could not be renewed for as long as it lasts. */
  readonly signal: AbortSignal;
  readonly state: "held" | "lost" | "stopped";
  release(): void;
}

export interface RunOwnership {
  /**
   * Undefined while an earlier run of the job, which has lost it, still goes on in this process: it is aborted, and is
   * given some time to come to its end.
   */
  hold(id: string): Holding | undefined;
  renewed(ids: readonly string[]): void;
  lost(ids: readonly string[]): void;
  /** The process stops: every run that still goes on is aborted. */
  stopAll(): void;
  close(): void;
}

/** A run that ignores its signal for so long is given up: its job runs a second time beside it. */
const lingerMs = 30_000;

/**
 * Tells running handlers when their job is no longer theirs. A hint that saves work: that a run which lost its job changes
 * nothing is the fence's business.
 * @param lockMs how long a lock lasts without renewal
 */
export function createRunOwnership(lockMs: number, monotonic: () => number = () => performance.now()): RunOwnership {
  interface Run {
    readonly controller: AbortController;
    renewedAt: number;
    state: Holding["state"];
    abortedAt: number;
  }
  const runs = new Map<string, Run>();

  const abort = (run: Run | undefined, state: "lost" | "stopped") => {
    if (run?.state !== "held") return;
    run.state = state;
    run.abortedAt = monotonic();
    run.controller.abort();
  };
  // Also notices that the process itself was frozen: then the clock has jumped.
  const timer = setInterval(() => {
    const now = monotonic();
    for (const run of runs.values()) if (now - run.renewedAt > lockMs) abort(run, "lost");
  }, lockMs / 4);
  timer.unref();

  return {
    hold(id) {
      const earlier = runs.get(id);
      abort(earlier, "lost");
      if (earlier && monotonic() - earlier.abortedAt < lingerMs) return undefined;
      const run: Run = { controller: new AbortController(), renewedAt: monotonic(), state: "held", abortedAt: 0 };
      runs.set(id, run);
      return {
        signal: run.controller.signal,
        get state() {
          return run.state;
        },
        release() {
          if (runs.get(id) === run) runs.delete(id);
        },
      };
    },
    renewed(ids) {
      const now = monotonic();
      for (const id of ids) {
        const run = runs.get(id);
        if (run) run.renewedAt = now;
      }
    },
    lost(ids) {
      for (const id of ids) abort(runs.get(id), "lost");
    },
    stopAll() {
      for (const run of runs.values()) abort(run, "stopped");
    },
    close() {
      clearInterval(timer);
    },
  };
}
