/** Waits, or until the signal aborts; never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}

/**
 * First pause after a failure, twice as long each time up to `most` times the first; then somewhere in its upper half,
 * so that many clients that lost the same server do not come back at once.
 */
export function backoff(firstMs: number, failures: number, most: number, random: () => number): number {
  const whole = Math.min(firstMs * 2 ** Math.max(0, failures - 1), firstMs * most);
  return Math.round(whole * (0.5 + random() / 2));
}

/** What comes of `work`, or undefined after `ms` or when it fails. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const late = new AbortController();
  try {
    return await Promise.race([work.catch(() => undefined), pause(ms, late.signal).then(() => undefined)]);
  } finally {
    late.abort();
  }
}
