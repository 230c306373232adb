import type { CallLimit } from "../spec/index.js";

/** Keeps calls under declared limits, within this process. */
export interface Pacer {
  /**
   * Takes a place in a window.
   * @returns milliseconds to wait before the call may be made, its place being kept; undefined when that would be longer
   * than `patience` milliseconds, and then nothing was taken
   */
  reserve(key: string, limit: CallLimit, patience: number): number | undefined;
}

/** @param now milliseconds, never going back */
export function createPacer(now: () => number): Pacer {
  const windows = new Map<string, number[]>();
  return {
    reserve(key, { count, perMs }, patience) {
      const at = now();
      const places = (windows.get(key) ?? []).filter((place) => place > at - perMs);
      windows.set(key, places);
      // The place after the newest `count` ones: it opens when the oldest of them leaves the window.
      const oldest = places.length < count ? undefined : places[places.length - count];
      const start = oldest === undefined ? at : Math.max(at, oldest + perMs);
      if (start - at > patience) return undefined;
      places.push(start);
      return start - at;
    },
  };
}
