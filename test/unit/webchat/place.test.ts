import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { orderOfSent, orderOfTyped } from "../../../adapters/webchat/place.js";

/** Log ids, as the store writes them: milliseconds of this century and the next, and a running number. */
const place = fc.record({ ms: fc.integer({ min: 1_000_000_000_000, max: 4_000_000_000_000 }), n: fc.nat(1_000) });
const idOf = ({ ms, n }: { readonly ms: number; readonly n: number }) => `${ms}-${String(n).padStart(8, "0")}`;

function number(order: number | undefined): number {
  if (order === undefined) throw new Error("no order");
  return order;
}

describe("the order of a chat", () => {
  it("is the order of its log", () => {
    fc.assert(
      fc.property(place, place, (a, b) => {
        const [first, second] = [idOf(a), idOf(b)];
        const difference = number(orderOfSent(first)) - number(orderOfTyped(second, undefined));
        expect(Math.sign(difference)).toBe(first < second ? -1 : first > second ? 1 : 0);
      }),
    );
  });

  it("puts what was typed right after what was on the screen, and never later than it came", () => {
    fc.assert(
      fc.property(place, place, place, (own, seen, other) => {
        const order = number(orderOfTyped(idOf(own), idOf(seen)));
        expect(order).toBeLessThanOrEqual(number(orderOfTyped(idOf(own), undefined)));
        if (idOf(other) > idOf(seen)) expect(order).toBeLessThan(number(orderOfSent(idOf(other))));
        if (idOf(other) <= idOf(seen) && idOf(other) < idOf(own)) {
          expect(order).toBeGreaterThan(number(orderOfSent(idOf(other))));
        }
        expect(Number.isSafeInteger(order)).toBe(true);
      }),
    );
  });

  it("knows a log that merely counts", () => {
    expect(number(orderOfSent("000000000002"))).toBeGreaterThan(number(orderOfSent("000000000001")));
  });

  it("is not guessed from ids that say nothing of it", () => {
    for (const id of ["", "x", "1-x", "-1", "1.5", "9".repeat(15), "1-2-3"]) {
      expect(orderOfSent(id)).toBeUndefined();
      expect(orderOfTyped(id, "1-1")).toBeUndefined();
    }
    expect(orderOfTyped("5-0", "nonsense")).toBe(orderOfTyped("5-0", undefined));
  });

  it("never puts a later entry before an earlier one, however many share a millisecond", () => {
    expect(number(orderOfSent("5-00005000"))).toBeGreaterThanOrEqual(number(orderOfSent("5-00004999")));
    expect(number(orderOfSent("6-00000000"))).toBeGreaterThan(number(orderOfSent("5-00005000")));
  });
});
