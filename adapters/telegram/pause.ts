/** Waits, or until the signal aborts; never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

/** First pause after a failure, then twice as long each time, up to thirty times the first. */
export function backoff(firstMs: number, failures: number): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), firstMs * 30);
}
