import { DaleError } from "../../src/errors/index.js";

/** A moment by which everything that a request needs from the store has to be there. */
export interface Deadline {
  /** @throws DaleError `store_unavailable` when the moment comes first; what the promise does later is ignored */
  within<T>(promise: Promise<T>): Promise<T>;
}

export function createDeadline(ms: number, signal?: AbortSignal): Deadline {
  const end = performance.now() + ms;
  return {
    within(promise) {
      return new Promise((resolve, reject) => {
        const late = () => reject(new DaleError("store_unavailable", "The store did not answer in time."));
        const timer = setTimeout(late, Math.max(0, end - performance.now()));
        signal?.addEventListener("abort", late, { once: true });
        promise.then(resolve, reject).finally(() => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", late);
        });
      });
    },
  };
}
