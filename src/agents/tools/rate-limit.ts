import { setTimeout as sleep } from "node:timers/promises";
import type { CallLimit } from "../spec/index.js";
import type { Deadline } from "./deadline.js";
import { HttpFault } from "./fault.js";

/** Keeps calls under declared limits, within this process. */
export interface Pacer {
  /**
   * Takes a place in a window.
   * @returns milliseconds to wait before the call may be made, its place being kept; undefined when that would be longer
   * than `patience` milliseconds, and then nothing was taken
   */
  reserve(key: string, limit: CallLimit, patience: number): number | undefined;
}

/** A limit and whom it counts for: calls with the same key share one window. */
export interface KeyedLimit {
  readonly key: string;
  readonly limit: CallLimit;
}

/** @param now milliseconds, never going back */
export function createPacer(now: () => number): Pacer {
  const windows = new Map<string, number[]>();
  return {
    reserve(key, { count, perMs }, patience) {
      const at = now();
      const places = (windows.get(key) ?? []).filter((place) => place > at - perMs);
      windows.set(key, places);
      // The next place opens when the oldest of the newest `count` places leaves the window.
      const oldest = places.length < count ? undefined : places[places.length - count];
      const start = oldest === undefined ? at : Math.max(at, oldest + perMs);
      if (start - at > patience) return undefined;
      places.push(start);
      return start - at;
    },
  };
}

/**
 * Waits until every limit allows a call.
 * @returns false when that would take longer than the call may last
 * @throws HttpFault `timeout`, DaleError `turn_aborted`
 */
export async function waitForTurn(pacer: Pacer, limits: readonly KeyedLimit[], deadline: Deadline): Promise<boolean> {
  for (const { key, limit } of limits) {
    const wait = pacer.reserve(key, limit, deadline.remaining());
    if (wait === undefined) return false;
    if (wait === 0) continue;
    try {
      await sleep(wait, undefined, { signal: deadline.signal });
    } catch (cause) {
      throw deadline.aborted() ?? new HttpFault("timeout", false, { cause });
    }
  }
  return true;
}
