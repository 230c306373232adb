import { describe, expect, it } from "vitest";
import { createRate } from "../../../adapters/webchat/rate.js";

describe("a rate", () => {
  it("lets so many pass in any window, and says when the next may", () => {
    let now = 0;
    const rate = createRate({ count: 2, perMs: 100 }, () => now);
    expect([rate.take("a"), rate.take("a")]).toEqual([0, 0]);
    now = 30;
    expect(rate.take("a")).toBe(70);
    expect(rate.take("b")).toBe(0);
    now = 100;
    expect(rate.take("a")).toBe(0);
  });

  it("does not count what it refused", () => {
    let now = 0;
    const rate = createRate({ count: 1, perMs: 100 }, () => now);
    rate.take("a");
    for (now = 10; now < 100; now += 10) expect(rate.take("a")).toBeGreaterThan(0);
    now = 100;
    expect(rate.take("a")).toBe(0);
  });
});
