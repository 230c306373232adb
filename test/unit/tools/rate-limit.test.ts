import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPacer } from "../../../src/agents/tools/rate-limit.js";

const limit = { count: 2, perMs: 1000 };

describe("a pacer", () => {
  it("lets calls through up to the limit and then tells how long to wait", () => {
    let now = 0;
    const pacer = createPacer(() => now);
    expect([1, 2, 3, 4].map(() => pacer.reserve("k", limit, 5000))).toEqual([0, 0, 1000, 1000]);
    now = 500;
    expect(pacer.reserve("k", limit, 5000)).toBe(1500);
    now = 10_000;
    expect(pacer.reserve("k", limit, 0)).toBe(0);
  });

  it("takes no place for a call that cannot wait that long", () => {
    const pacer = createPacer(() => 0);
    expect([1, 2, 3, 4].map(() => pacer.reserve("k", limit, 999))).toEqual([0, 0, undefined, undefined]);
    expect(pacer.reserve("k", limit, 1000)).toBe(1000);
  });

  it("counts every key by itself", () => {
    const pacer = createPacer(() => 0);
    for (const key of ["a", "b", "c"]) expect(pacer.reserve(key, { count: 1, perMs: 1000 }, 0)).toBe(0);
  });

  it("never lets more than the limit start in any window", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 700 }), fc.integer({ min: 0, max: 3000 })), { maxLength: 60 }),
        fc.integer({ min: 1, max: 4 }),
        (arrivals, count) => {
          let now = 0;
          const pacer = createPacer(() => now);
          const starts: number[] = [];
          for (const [gap, patience] of arrivals) {
            now += gap;
            const wait = pacer.reserve("k", { count, perMs: 1000 }, patience);
            if (wait !== undefined) starts.push(now + wait);
          }
          starts.sort((a, b) => a - b);
          for (const [index, start] of starts.entries()) {
            const later = starts[index + count];
            if (later !== undefined) expect(later - start).toBeGreaterThanOrEqual(1000);
          }
        },
      ),
    );
  });
});
