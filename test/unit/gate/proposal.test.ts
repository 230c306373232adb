import { describe, expect, it } from "vitest";
import { emptySlot } from "../../../src/gate/index.js";
import { executing, granted, proposalOf, Story, saying, shown, ttl } from "./story.js";

describe("proposing a call", () => {
  it("fills an empty slot and puts the exact notice and arguments on record", () => {
    const story = new Story();
    const proposal = proposalOf("p-1");
    expect(story.propose(proposal)).toEqual({ kind: "proposed", proposal });
    expect(story.slot).toEqual({
      version: 1,
      current: { state: "pending", proposal, showings: [], reshown: 0 },
    });
    expect(story.evidence).toEqual([
      {
        type: "proposed",
        at: 1_000,
        proposal: "p-1",
        agent: "cobranzas",
        tool: "praxis_crear_record",
        argsHash: "fp-p-1",
        turn: "t-1",
        detail: { notice: proposal.notice, args: proposal.args, expiresAt: proposal.expiresAt },
      },
    ]);
  });

  it("never overwrites an unused first", () => {
    const story = new Story();
    const first = proposalOf("p-1");
    story.propose(first);
    const before = story.slot;
    expect(story.propose(proposalOf("p-2"))).toEqual({ kind: "occupied", proposal: first });
    expect(story.slot).toBe(before);
    expect(story.evidence).toHaveLength(1);
  });

  it("is the same proposal when the same turn proposes the same call", () => {
    const story = new Story();
    const first = proposalOf("p-1");
    story.propose(first);
    expect(story.propose(proposalOf("p-2", { fingerprint: "fp-p-1" }))).toEqual({ kind: "repeated", proposal: first });
    expect(story.propose(proposalOf("p-3", { fingerprint: "fp-p-1", tool: "other" }))).toMatchObject({
      kind: "occupied",
    });
  });

  it("is another one when another turn proposes the same call", () => {
    const story = new Story();
    story.propose(proposalOf("p-1"));
    const again = proposalOf("p-2", { fingerprint: "fp-p-1", turn: "t-2" });
    expect(story.propose(again)).toMatchObject({ kind: "occupied" });
  });

  it("waits for a grant that is not used up yet, the same call too", () => {
    const story = granted();
    expect(story.propose(proposalOf("p-2", { turn: "t-2" }))).toMatchObject({
      kind: "occupied",
      proposal: { id: "p-1" },
    });
    expect(story.propose(proposalOf("p-3", { fingerprint: "fp-p-1" }))).toMatchObject({ kind: "occupied" });
    expect(executing().propose(proposalOf("p-2", { turn: "t-2" }))).toMatchObject({ kind: "occupied" });
  });

  it("finds room once the one before has lapsed", () => {
    const story = shown();
    const early = proposalOf("p-2", { turn: "t-2", proposedAt: 1_000 + ttl - 1 });
    expect(story.propose(early).kind).toBe("occupied");
    const late = proposalOf("p-3", { turn: "t-2", proposedAt: 1_000 + ttl });
    expect(story.propose(late)).toEqual({ kind: "proposed", proposal: late });
    expect(story.evidence).toMatchObject([
      { type: "expired", proposal: "p-1", at: 1_000 + ttl, detail: {} },
      { type: "proposed", proposal: "p-3" },
    ]);
  });

  it("does not take the place of a grant that has lapsed, before somebody says so", () => {
    expect(granted().propose(proposalOf("p-2", { proposedAt: 1_000 + ttl })).kind).toBe("occupied");
  });

  it("forgets what lapsed before", () => {
    const story = shown();
    story.apply({ type: "expire", at: 1_000 + ttl });
    story.propose(proposalOf("p-2", { turn: "t-2", proposedAt: 700_000 }));
    expect(story.slot.lapsed).toBeUndefined();
  });
});

describe("a proposal's time", () => {
  it("ends at its expiry, not before", () => {
    const story = shown();
    const before = story.slot;
    expect(story.apply({ type: "expire", at: 1_000 + ttl - 1 })).toEqual({ kind: "none" });
    expect(story.slot).toBe(before);
    expect(story.apply({ type: "expire", at: 1_000 + ttl })).toMatchObject({
      kind: "expired",
      proposal: { id: "p-1" },
    });
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.evidence).toMatchObject([{ type: "expired", proposal: "p-1", detail: {} }]);
    expect(story.evidence[0]).not.toHaveProperty("turn");
    expect(story.apply({ type: "expire", at: 1_000 + ttl })).toEqual({ kind: "none" });
  });

  it("ends for an unused grant as well", () => {
    const story = granted();
    expect(story.apply({ type: "expire", at: 1_000 + ttl }).kind).toBe("expired");
    expect(story.slot.current).toEqual({ state: "empty" });
  });

  it("does not end what is already being executed", () => {
    const story = executing();
    expect(story.apply({ type: "expire", at: 1_000 + ttl })).toEqual({ kind: "none" });
    expect(story.slot.current.state).toBe("executing");
  });

  it("leaves an empty slot alone", () => {
    const story = new Story();
    expect(story.apply({ type: "expire", at: 9 })).toEqual({ kind: "none" });
    expect(story.slot).toBe(emptySlot);
  });

  it("having ended by itself, is told to the next message, once", () => {
    const story = shown();
    story.apply({ type: "expire", at: 1_000 + ttl });
    story.evidence.splice(0);
    expect(story.apply(saying("si", "t-2", 700_000))).toMatchObject({ kind: "expired", proposal: { id: "p-1" } });
    expect(story.evidence).toEqual([]);
    expect(story.apply(saying("si", "t-3", 700_001))).toEqual({ kind: "none" });
  });
});
