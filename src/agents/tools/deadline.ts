import { DaleError } from "../../errors/index.js";

/** One limit for a whole call, whatever it is made of: connecting, sending, every page, every byte of the answer. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** True once the time was up. */
  expired(): boolean;
  /** Milliseconds that are left. */
  remaining(): number;
  /** DaleError `turn_aborted` once it was the caller who stopped the call. */
  aborted(): DaleError | undefined;
  /** Releases timer and listener. Call it always. */
  end(): void;
}

/** @param ms how long the call may take in all */
export function startDeadline(ms: number, outer: AbortSignal): Deadline {
  const controller = new AbortController();
  const started = performance.now();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort();
  }, ms);
  const stop = (): void => controller.abort();
  outer.addEventListener("abort", stop, { once: true });
  if (outer.aborted) stop();
  return {
    signal: controller.signal,
    expired: () => expired,
    remaining: () => Math.max(0, ms - (performance.now() - started)),
    aborted: () =>
      outer.aborted ? new DaleError("turn_aborted", "a tool call was stopped", { cause: outer.reason }) : undefined,
    end() {
      clearTimeout(timer);
      outer.removeEventListener("abort", stop);
    },
  };
}
