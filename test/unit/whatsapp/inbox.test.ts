import { describe, expect, it } from "vitest";
import { createInbox } from "../../../adapters/whatsapp/inbox.js";

const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

function rig(fail: (item: number, tries: number) => boolean = () => false) {
  const taken: number[] = [];
  const tries = new Map<number, number>();
  const inbox = createInbox<number>({
    async take(item) {
      const n = (tries.get(item) ?? 0) + 1;
      tries.set(item, n);
      if (fail(item, n)) throw new Error("away");
      taken.push(item);
    },
    onRefused: () => {},
    retryMs: 1,
  });
  return { inbox, taken, tries };
}

describe("an inbox", () => {
  it("hands over in order, each again until it is taken", async () => {
    const { inbox, taken } = rig((item, tries) => item === 1 && tries < 4);
    for (const item of [1, 2, 3]) inbox.add(item);
    await settled();
    await settled();
    expect(taken).toEqual([1, 2, 3]);
    expect(inbox.waiting()).toEqual([]);
  });

  it("holds everything back until it is told to go on", async () => {
    const { inbox, taken } = rig();
    inbox.hold();
    inbox.add(1);
    inbox.add(2);
    await settled();
    expect(taken).toEqual([]);
    expect(inbox.waiting()).toEqual([1, 2]);
    inbox.release();
    await settled();
    expect(taken).toEqual([1, 2]);
  });

  it("hands over what it held in the order that it is told, and what is equal as it came", async () => {
    const { inbox, taken } = rig();
    inbox.hold();
    for (const item of [21, 11, 12, 22, 13]) inbox.add(item);
    inbox.release((one, other) => Math.floor(one / 10) - Math.floor(other / 10));
    await settled();
    expect(taken).toEqual([11, 12, 13, 21, 22]);
  });

  it("hands nothing over twice when it is sorted while it tries", async () => {
    const { inbox, taken } = rig((item, tries) => item === 9 && tries < 6);
    inbox.add(9);
    await settled();
    inbox.hold();
    inbox.add(1);
    inbox.release((one, other) => one - other);
    await settled();
    await settled();
    expect(taken.toSorted()).toEqual([1, 9]);
  });

  it("hands over nothing after it was stopped, and forgets nothing", async () => {
    const { inbox, taken } = rig((item) => item === 2);
    for (const item of [1, 2, 3]) inbox.add(item);
    await settled();
    await inbox.stop();
    inbox.add(4);
    await settled();
    expect(taken).toEqual([1]);
    expect(inbox.waiting()).toEqual([2, 3]);
  });

  it("takes what comes while it ends a round", async () => {
    const taken: number[] = [];
    const inbox = createInbox<number>({
      async take(item) {
        taken.push(item);
        if (item < 50) inbox.add(item + 1);
      },
      onRefused: () => {},
      retryMs: 1,
    });
    inbox.add(1);
    await settled();
    expect(taken).toHaveLength(50);
  });
});
