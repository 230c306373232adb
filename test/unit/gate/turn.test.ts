import { describe, expect, it } from "vitest";
import { consuming, executing, granted, proposalOf, runOf, Story, saying, shown } from "./story.js";

const beginning = (turn: string, fence: number, at = fence) =>
  ({ type: "turnBegins", run: runOf(turn, fence), at }) as const;
const ending = (turn: string, failed = false, at = 9_000) => ({ type: "endTurn", turn, failed, at }) as const;

describe("a turn that runs again", () => {
  it("is decided the same way, whatever has become of the slot", () => {
    for (const [text, kind] of [
      ["dale", "granted"],
      ["no", "discarded"],
    ] as const) {
      const story = shown();
      const outcome = story.apply(saying(text, "t-2", 3_000));
      expect(outcome.kind).toBe(kind);
      story.evidence.splice(0);
      expect(story.apply(saying(text, "t-2", 3_000, { fence: 4_000 }))).toEqual(outcome);
      expect(story.evidence).toEqual([]);
      expect(story.slot.decided).toEqual({ turn: "t-2", fence: 4_000, outcome });
    }
  });

  it("does not count a showing twice", () => {
    const story = shown();
    story.lastSent = "other";
    story.apply(saying("si", "t-2", 3_000));
    expect(story.apply(saying("si", "t-2", 3_000, { fence: 4_000 }))).toMatchObject({ kind: "unseen", again: true });
    expect(story.slot.current).toMatchObject({ reshown: 1 });
  });

  it("changes nothing when the same run asks twice", () => {
    const story = shown();
    const outcome = story.apply(saying("dale", "t-2", 3_000));
    const before = story.slot;
    expect(story.apply(saying("dale", "t-2", 3_000))).toEqual(outcome);
    expect(story.slot).toBe(before);
  });

  it("keeps an unused grant for its next run", () => {
    const story = granted();
    story.apply(saying("dale", "t-2", 3_000, { fence: 4_000 }));
    expect(story.apply(consuming(runOf("t-2", 4_000), 4_001))).toMatchObject({ kind: "run" });
  });

  it("withdraws what its earlier run proposed and nobody was shown", () => {
    const story = new Story();
    story.apply(saying("hola", "t-1", 1_000));
    story.propose(proposalOf("p-1"));
    story.evidence.splice(0);
    expect(story.apply(saying("hola", "t-1", 1_000, { fence: 2_000, at: 2_000 }))).toEqual({ kind: "none" });
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.evidence).toMatchObject([
      { type: "withdrawn", at: 2_000, proposal: "p-1", turn: "t-1", detail: { reason: "run_repeated" } },
    ]);
  });

  it("leaves what was shown, what another turn proposed, and what this very run proposed", () => {
    const begun = (proposal = proposalOf("p-1")) => {
      const story = new Story();
      story.apply(saying("hola", "t-1", 1_000));
      story.propose(proposal);
      return story;
    };
    const sent = begun();
    sent.sending("p-1", "part-1", 1_500);
    sent.apply(saying("hola", "t-1", 1_000, { fence: 2_000 }));
    expect(sent.slot.current.state).toBe("pending");
    const others = begun(proposalOf("p-1", { turn: "t-0" }));
    others.apply(saying("hola", "t-1", 1_000, { fence: 2_000 }));
    expect(others.slot.current.state).toBe("pending");
    const own = begun();
    own.apply(saying("hola", "t-1", 1_000));
    expect(own.slot.current.state).toBe("pending");
  });
});

describe("a run that was overtaken", () => {
  it("by a later run of its turn is told the decision and changes nothing", () => {
    const story = granted();
    const outcome = story.apply(saying("dale", "t-2", 3_000, { fence: 4_000 }));
    story.apply(consuming(runOf("t-2", 4_000), 4_001));
    const before = story.slot;
    expect(story.apply(saying("dale", "t-2", 3_000, { fence: 3_000 }))).toEqual(outcome);
    expect(story.slot).toBe(before);
  });

  it("by a later turn decides nothing: it can neither grant nor discard", () => {
    const story = shown();
    story.apply(saying("y cuánto debe 43?", "t-2", 3_000));
    story.propose(proposalOf("p-2", { turn: "t-2" }));
    story.show("p-2", "part-2", 3_100);
    const before = story.slot;
    expect(story.apply(saying("dale", "t-0", 3_500, { fence: 500 }))).toEqual({ kind: "none" });
    expect(story.apply(saying("no", "t-0", 3_500, { fence: 500 }))).toEqual({ kind: "none" });
    expect(story.slot).toBe(before);
  });
});

describe("an execution that an earlier run left in the middle", () => {
  const found = { proposal: proposalOf("p-1"), grant: { turn: "t-2", message: "m-t-2", at: 3_000 } };

  it("is unknown, told to the retried turn, and told again when it is retried once more", () => {
    const story = executing();
    expect(story.apply(saying("dale", "t-2", 3_000, { fence: 4_000, at: 4_005 }))).toEqual({
      kind: "granted",
      proposal: proposalOf("p-1"),
      interrupted: found,
    });
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.slot.lost).toEqual({ ...found, run: runOf("t-2", 3_000), toldTo: "t-2" });
    expect(story.evidence).toMatchObject([
      { type: "unknown", at: 4_005, proposal: "p-1", turn: "t-2", detail: { reason: "run_interrupted" } },
    ]);
    story.evidence.splice(0);
    expect(story.apply(saying("dale", "t-2", 3_000, { fence: 5_000 }))).toMatchObject({ interrupted: found });
    const before = story.slot;
    expect(story.apply(saying("dale", "t-2", 3_000, { fence: 5_000 }))).toMatchObject({ interrupted: found });
    expect(story.slot).toBe(before);
    expect(story.evidence).toEqual([]);
  });

  it("is unknown and told to the next turn, whose message is an ordinary one", () => {
    const story = executing();
    expect(story.apply(saying("hola?", "t-3", 5_000))).toEqual({ kind: "none", interrupted: found });
    expect(story.slot.decided?.outcome).toEqual({ kind: "none" });
    expect(story.recorded()).toEqual(["unknown"]);
    expect(story.apply(saying("hola?", "t-3", 5_000, { fence: 6_000 }))).toEqual({ kind: "none", interrupted: found });
    expect(story.apply(saying("y?", "t-4", 7_000))).toEqual({ kind: "none" });
  });

  it("is unknown and told to a turn that no person wrote, and to it alone", () => {
    const story = executing();
    expect(story.apply(beginning("t-scheduled", 5_000))).toEqual({ kind: "none", interrupted: found });
    expect(story.recorded()).toEqual(["unknown"]);
    expect(story.apply(saying("hola?", "t-3", 6_000))).toEqual({ kind: "none" });
  });

  it("is not in the middle for the run that executes", () => {
    const story = executing();
    const before = story.slot;
    expect(story.apply(saying("dale", "t-2", 3_000))).not.toHaveProperty("interrupted");
    expect(story.apply(beginning("t-2", 3_000))).toEqual({ kind: "none" });
    expect(story.slot).toBe(before);
  });

  it("is not declared unknown by a run that was overtaken", () => {
    const story = executing();
    const before = story.slot;
    expect(story.apply(beginning("t-0", 2_999))).toEqual({ kind: "none" });
    expect(story.slot).toBe(before);
    expect(story.apply(beginning("t-0", 3_000))).toMatchObject({ interrupted: found });
  });

  it("is unknown when its turn ends, and told to the next turn", () => {
    const story = executing();
    story.apply(ending("t-2", true));
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.slot.lost).toEqual({ ...found, run: runOf("t-2", 3_000) });
    expect(story.evidence).toMatchObject([
      { type: "unknown", at: 9_000, turn: "t-2", detail: { reason: "turn_ended" } },
    ]);
    story.evidence.splice(0);
    expect(story.apply(saying("hola?", "t-3", 9_500))).toEqual({ kind: "none", interrupted: found });
    expect(story.slot.lost?.toldTo).toBe("t-3");
    expect(story.apply(saying("y?", "t-4", 9_600))).toEqual({ kind: "none" });
    expect(story.evidence).toEqual([]);
  });

  it("stays what it is while another turn ends", () => {
    const story = executing();
    const before = story.slot;
    story.apply(ending("t-scheduled"));
    expect(story.slot).toBe(before);
  });
});

describe("a new message", () => {
  it("withdraws a grant that its turn left behind, and is an ordinary one", () => {
    const story = granted();
    expect(story.apply(saying("dale", "t-3", 5_000))).toEqual({ kind: "none" });
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.evidence).toMatchObject([
      { type: "withdrawn", at: 5_000, turn: "t-2", detail: { reason: "unused_grant" } },
    ]);
  });

  it("forgets the execution of the turn before", () => {
    const story = executing();
    const result = { status: "executed", content: "ok" } as const;
    story.apply({ type: "settle", proposal: "p-1", run: runOf("t-2", 3_000), result, at: 3_100 });
    story.apply(saying("gracias", "t-3", 5_000));
    expect(story.slot.executed).toBeUndefined();
  });

  it("leaves an execution alone that a later run began", () => {
    const story = granted();
    story.apply(consuming(runOf("t-scheduled", 8_000), 3_001));
    expect(story.apply(saying("dale", "t-3", 5_000))).toEqual({ kind: "none" });
    expect(story.slot.current.state).toBe("executing");
  });
});

describe("a turn that no person wrote", () => {
  it("neither closes nor gives a grant, and discards nothing", () => {
    for (const story of [granted(), shown()]) {
      const before = story.slot;
      expect(story.apply(beginning("t-scheduled", 5_000))).toEqual({ kind: "none" });
      story.apply(ending("t-scheduled"));
      expect(story.slot).toBe(before);
      expect(story.evidence).toEqual([]);
    }
  });

  it("withdraws what an earlier run of it proposed and nobody was shown", () => {
    const story = new Story();
    story.propose(proposalOf("p-1", { turn: "t-api" }));
    story.evidence.splice(0);
    story.apply(beginning("t-api", 5_000));
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.recorded()).toEqual(["withdrawn"]);
  });

  it("does not withdraw what the run itself proposed that decided last", () => {
    const story = new Story();
    story.apply(saying("hola", "t-1", 1_000));
    story.propose(proposalOf("p-1"));
    story.apply(beginning("t-1", 1_000));
    expect(story.slot.current.state).toBe("pending");
  });
});

describe("the end of a turn", () => {
  it("ends an unused grant of it", () => {
    const story = granted();
    expect(story.apply(ending("t-2"))).toEqual({ kind: "ended" });
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.evidence).toMatchObject([
      { type: "withdrawn", at: 9_000, turn: "t-2", detail: { reason: "unused_grant" } },
    ]);
    const failed = granted();
    failed.apply(ending("t-2", true));
    expect(failed.slot.current).toEqual({ state: "empty" });
  });

  it("leaves a proposal whose notice is about to be sent", () => {
    const story = new Story();
    story.propose(proposalOf("p-1"));
    const before = story.slot;
    story.apply(ending("t-1"));
    expect(story.slot).toBe(before);
  });

  it("withdraws what a run that raised proposed and nobody was shown", () => {
    const story = new Story();
    story.propose(proposalOf("p-1"));
    story.evidence.splice(0);
    story.apply(ending("t-1", true));
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.evidence).toMatchObject([
      { type: "withdrawn", at: 9_000, turn: "t-1", detail: { reason: "run_failed" } },
    ]);
  });

  it("leaves what was shown, and what another turn proposed", () => {
    const sent = shown();
    const before = sent.slot;
    sent.apply(ending("t-1", true));
    expect(sent.slot).toBe(before);
    const others = new Story();
    others.propose(proposalOf("p-1"));
    others.apply(ending("t-2", true));
    expect(others.slot.current.state).toBe("pending");
  });

  it("forgets the turn's execution, unless the turn is to run again", () => {
    const done = () => {
      const story = executing();
      const result = { status: "executed", content: "ok" } as const;
      story.apply({ type: "settle", proposal: "p-1", run: runOf("t-2", 3_000), result, at: 3_100 });
      return story;
    };
    const ended = done();
    ended.apply(ending("t-2"));
    expect(ended.slot.executed).toBeUndefined();
    const failed = done();
    failed.apply(ending("t-2", true));
    expect(failed.slot.executed?.proposal.id).toBe("p-1");
    const other = done();
    other.apply(ending("t-3"));
    expect(other.slot.executed?.proposal.id).toBe("p-1");
  });

  it("remembers how the turn was decided", () => {
    const story = granted();
    story.apply(ending("t-2"));
    expect(story.apply(saying("dale", "t-2", 3_000, { fence: 9_500 }))).toMatchObject({ kind: "granted" });
    expect(story.apply(consuming(runOf("t-2", 9_500), 9_600))).toEqual({ kind: "refused" });
  });
});
