import type { RateLimit } from "../../src/channels/index.js";

/** Keys that are remembered at once; beyond that the one that was quiet longest is forgotten. */
const keysAtMost = 20_000;

export interface Rate {
  /** @returns ms to wait; 0 when it may happen now, and then it is counted */
  take(key: string): number;
}

/** Counts events per key in a sliding window, in this process. */
export function createRate(limit: RateLimit, now: () => number): Rate {
  const events = new Map<string, number[]>();
  return {
    take(key) {
      const at = now();
      const recent = (events.get(key) ?? []).filter((time) => time > at - limit.perMs);
      events.delete(key);
      events.set(key, recent);
      if (events.size > keysAtMost) for (const oldest of [...events.keys()].slice(0, 1)) events.delete(oldest);
      const [first] = recent;
      if (first !== undefined && recent.length >= limit.count) return Math.max(1, first + limit.perMs - at);
      recent.push(at);
      return 0;
    },
  };
}
