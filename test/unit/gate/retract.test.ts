import { beforeEach, describe, expect, it } from "vitest";
import { emptySlot, type OutcomeOf, reduce, type Slot, type SlotEvent } from "../../../src/gate/index.js";
import { slotEvents } from "../../fixtures/slot-events.js";

describe("a yes that is taken back", () => {
  const { proposal, shown, message, consume, settle } = slotEvents("p-1");
  const retract = (turn: string, at = 21_500) => ({ type: "retract", turn, at }) as const;
  let slot: Slot;
  let evidence: string[];

  beforeEach(() => {
    slot = emptySlot;
    evidence = [];
    for (const event of shown) apply(event);
    evidence = [];
  });

  function apply<Type extends SlotEvent["type"]>(event: Extract<SlotEvent, { type: Type }>): OutcomeOf[Type] {
    const next = reduce<Type>(slot, event, { lastSent: "out-t-1-p-1" });
    slot = next.slot;
    evidence.push(...next.evidence.map(({ type, detail }) => [type, detail.reason].filter(Boolean).join(" ")));
    return next.outcome;
  }

  it("before it is decided on grants nothing: it is another message", () => {
    apply(retract("t-2"));
    expect(apply(message("si", "t-2"))).toMatchObject({ kind: "discarded", proposal });
    expect(apply(consume("t-2"))).toEqual({ kind: "refused" });
    expect(evidence).toEqual(["discarded not_typed"]);
  });

  it("after it was granted, and before anything ran, allows nothing any more", () => {
    expect(apply(message("si", "t-2")).kind).toBe("granted");
    apply(retract("t-2"));
    expect(apply(consume("t-2"))).toEqual({ kind: "refused" });
    expect(evidence).toEqual(["granted", "withdrawn retracted"]);
  });

  it("calls nothing back that runs, or has run", () => {
    apply(message("si", "t-2"));
    expect(apply(consume("t-2")).kind).toBe("run");
    apply(retract("t-2"));
    expect(apply(settle("t-2"))).toEqual({ kind: "recorded" });
    expect(evidence).toEqual(["granted", "consumed", "executed"]);
    expect(apply(consume("t-2"))).toMatchObject({ kind: "repeat" });
  });

  it("is nobody else's: another turn's yes counts", () => {
    apply(retract("t-9"));
    expect(apply(message("si", "t-2")).kind).toBe("granted");
    apply(retract("t-9"));
    apply(retract("t-8"));
    expect(apply(consume("t-2")).kind).toBe("run");
  });

  it("leaves what waits where it is", () => {
    const before = slot.current;
    apply(retract("t-0"));
    expect(slot.current).toBe(before);
    expect(evidence).toEqual([]);
  });

  it("changes nothing the second time, and is remembered for a while", () => {
    apply(retract("t-2"));
    const once = slot;
    apply(retract("t-2"));
    expect(slot).toBe(once);
    for (let n = 0; n < 30; n++) apply(retract(`t-old-${n}`));
    expect(slot.retracted).toHaveLength(20);
    expect(slot.retracted?.at(-1)).toBe("t-old-29");
  });
});
