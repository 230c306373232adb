import { describe, expect, it } from "vitest";
import { consuming, executing, granted, proposalOf, runOf, Story, saying, shown, ttl } from "./story.js";

const run = runOf("t-2", 3_000);
const executed = { status: "executed", content: "plan 7" } as const;

const settling = (
  proposal = "p-1",
  by = run,
  result: { status: "executed" | "failed" | "unknown"; content: string } = executed,
) => ({ type: "settle", proposal, run: by, result, at: 3_100 }) as const;

describe("using up a grant", () => {
  it("lets the call run that was granted, once", () => {
    const story = granted();
    expect(story.apply(consuming(run, 3_001))).toEqual({
      kind: "run",
      proposal: proposalOf("p-1"),
      grant: { turn: "t-2", message: "m-t-2", at: 3_000 },
    });
    expect(story.slot.current).toEqual({
      state: "executing",
      proposal: proposalOf("p-1"),
      grant: { turn: "t-2", message: "m-t-2", at: 3_000 },
      run,
      since: 3_001,
    });
    expect(story.evidence).toMatchObject([
      { type: "consumed", at: 3_001, proposal: "p-1", turn: "t-2", detail: { grant: "m-t-2" } },
    ]);
    const before = story.slot;
    expect(story.apply(consuming(run, 3_002))).toMatchObject({ kind: "running", proposal: { id: "p-1" } });
    expect(story.slot).toBe(before);
  });

  it.each([
    ["another tool with the same arguments", { tool: "praxis_borrar_record" }],
    ["other arguments", { fingerprint: "fp-p-2" }],
  ])("refuses %s", (_what, changes) => {
    const story = granted();
    const before = story.slot;
    expect(story.apply(consuming(run, 3_001, changes))).toEqual({ kind: "refused" });
    expect(story.slot).toBe(before);
    expect(executing().apply(consuming(run, 3_002, changes))).toEqual({ kind: "refused" });
    const done = executing();
    done.apply(settling());
    expect(done.apply(consuming(run, 3_200, changes))).toEqual({ kind: "refused" });
  });

  it("refuses what was shown but not granted, and what was never proposed", () => {
    expect(shown().apply(consuming(run, 3_001))).toEqual({ kind: "refused" });
    expect(new Story().apply(consuming(run, 3_001))).toEqual({ kind: "refused" });
  });

  it("refuses what has lapsed since it was granted", () => {
    const story = granted();
    expect(story.apply(consuming(run, 1_000 + ttl))).toEqual({ kind: "refused" });
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.slot.lapsed?.id).toBe("p-1");
    expect(story.evidence).toMatchObject([{ type: "expired", turn: "t-2", detail: { grant: "m-t-2" } }]);
    expect(granted().apply(consuming(run, 1_000 + ttl - 1))).toMatchObject({ kind: "run" });
  });

  it("is open to any run of the session", () => {
    expect(granted().apply(consuming(runOf("t-scheduled", 3_500), 3_600))).toMatchObject({ kind: "run" });
  });

  it("is closed to a run that was overtaken by a later run of its turn", () => {
    const story = granted();
    story.apply(saying("dale", "t-2", 3_000, { fence: 3_300 }));
    expect(story.apply(consuming(run, 3_400))).toEqual({ kind: "refused" });
    expect(story.apply(consuming(runOf("t-2", 3_300), 3_400))).toMatchObject({ kind: "run" });
  });
});

describe("what came of the call", () => {
  it.each(["executed", "failed", "unknown"] as const)("is %s: on record, and kept for the turn", (status) => {
    const story = executing();
    const result = { status, content: "plan 7" };
    expect(story.apply(settling("p-1", run, result))).toEqual({ kind: "recorded" });
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.slot.executed).toEqual({
      proposal: proposalOf("p-1"),
      grant: { turn: "t-2", message: "m-t-2", at: 3_000 },
      run,
      result,
    });
    expect(story.evidence).toMatchObject([
      { type: status, at: 3_100, proposal: "p-1", turn: "t-2", detail: { result: "plan 7" } },
    ]);
  });

  it("is parked, and not failed, where it waits for a reviewer: with the approval's name, and kept for the turn", () => {
    const story = executing();
    const result = { status: "parked", content: "waits", approval: "apr-1" } as const;
    expect(story.apply({ type: "settle", proposal: "p-1", run, result, at: 3_100 })).toEqual({ kind: "recorded" });
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.evidence).toMatchObject([
      { type: "parked", at: 3_100, proposal: "p-1", turn: "t-2", detail: { awaits: "apr-1" } },
    ]);
    expect(story.apply(consuming(run, 3_200))).toMatchObject({ kind: "repeat", result });
  });

  it("is what a repetition in the same turn gets; it does not run again", () => {
    const story = executing();
    story.apply(settling());
    const before = story.slot;
    const repeat = { kind: "repeat", proposal: proposalOf("p-1"), result: executed };
    expect(story.apply(consuming(run, 3_200))).toEqual(repeat);
    expect(story.apply(consuming(runOf("t-2", 4_000), 4_200))).toEqual(repeat);
    expect(story.slot).toBe(before);
  });

  it("is not what another turn gets", () => {
    const story = executing();
    story.apply(settling());
    expect(story.apply(consuming(runOf("t-3", 4_000), 4_000))).toEqual({ kind: "refused" });
  });

  it("is what a repetition gets in the turn that used another turn's grant", () => {
    const story = granted();
    const scheduled = runOf("t-scheduled", 3_500);
    story.apply(consuming(scheduled, 3_600));
    story.apply(settling("p-1", scheduled));
    expect(story.apply(consuming(scheduled, 3_700))).toMatchObject({ kind: "repeat" });
    expect(story.apply(consuming(runOf("t-2", 3_800), 3_800))).toMatchObject({ kind: "repeat" });
  });

  it("makes room for the turn's next proposal", () => {
    const story = executing();
    story.apply(settling());
    expect(story.propose(proposalOf("p-2", { turn: "t-2" }))).toMatchObject({ kind: "proposed" });
    expect(story.slot.executed?.proposal.id).toBe("p-1");
  });

  it("is recorded once", () => {
    const story = executing();
    story.apply(settling());
    const before = story.slot;
    story.evidence.splice(0);
    expect(story.apply(settling())).toEqual({ kind: "recorded" });
    expect(story.slot).toBe(before);
    expect(story.evidence).toEqual([]);
  });

  it("goes on record by its first 2000 characters, and how long it was", () => {
    const long = (length: number) => {
      const story = executing();
      story.apply(settling("p-1", run, { status: "executed", content: "x".repeat(length) }));
      return story.evidence[0]?.detail;
    };
    expect(long(2_000)).toEqual({ result: "x".repeat(2_000) });
    expect(long(2_001)).toEqual({ result: "x".repeat(2_000), resultLength: 2_001 });
  });

  it("is not said by another run, nor of another proposal", () => {
    const story = executing();
    const before = story.slot;
    expect(story.apply(settling("p-1", runOf("t-2", 3_001)))).toEqual({ kind: "late" });
    expect(story.apply(settling("p-1", runOf("t-3", 3_000)))).toEqual({ kind: "late" });
    expect(story.apply(settling("p-2"))).toEqual({ kind: "late" });
    expect(new Story().apply(settling())).toEqual({ kind: "late" });
    expect(story.slot).toBe(before);
    expect(story.evidence).toEqual([]);
    const done = executing();
    done.apply(settling());
    expect(done.apply(settling("p-1", runOf("t-2", 3_001)))).toEqual({ kind: "late" });
  });
});

describe("an execution that was declared unknown", () => {
  const interrupted = () => {
    const story = executing();
    story.apply(saying("dale", "t-2", 3_000, { fence: 4_000, at: 4_000 }));
    story.evidence.splice(0);
    return story;
  };

  it("is not begun again in that turn", () => {
    const story = interrupted();
    const before = story.slot;
    expect(story.apply(consuming(runOf("t-2", 4_000), 4_100))).toMatchObject({
      kind: "running",
      proposal: { id: "p-1" },
    });
    expect(story.apply(consuming(runOf("t-2", 4_000), 4_100, { tool: "other" }))).toEqual({ kind: "refused" });
    expect(story.slot).toBe(before);
  });

  it("is not begun again by the turn that was told of it", () => {
    const story = executing();
    story.apply(saying("hola?", "t-3", 5_000));
    expect(story.apply(consuming(runOf("t-3", 5_000), 5_100))).toMatchObject({ kind: "running" });
    expect(story.apply(consuming(runOf("t-4", 6_000), 6_100))).toEqual({ kind: "refused" });
  });

  it("is known after all when its run comes back late", () => {
    const story = interrupted();
    expect(story.apply(settling())).toEqual({ kind: "late" });
    expect(story.evidence).toMatchObject([
      { type: "executed", at: 3_100, proposal: "p-1", turn: "t-2", detail: { result: "plan 7", late: true } },
    ]);
    expect(story.slot.lost).toBeUndefined();
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.apply(consuming(runOf("t-2", 4_000), 4_200))).toMatchObject({ kind: "repeat", result: executed });
    story.evidence.splice(0);
    expect(story.apply(settling())).toEqual({ kind: "recorded" });
    expect(story.evidence).toEqual([]);
  });

  it("does not take the place of a later execution when it is known late", () => {
    const story = interrupted();
    story.propose(proposalOf("p-2", { turn: "t-2", proposedAt: 4_100 }));
    story.show("p-2", "part-2", 4_200);
    story.apply(saying("dale", "t-3", 5_000));
    const later = runOf("t-3", 5_000);
    story.apply(consuming(later, 5_001, { fingerprint: "fp-p-2" }));
    story.apply(settling("p-2", later, { status: "executed", content: "plan 8" }));
    expect(story.apply(settling())).toEqual({ kind: "late" });
    expect(story.slot.executed).toMatchObject({ proposal: { id: "p-2" }, result: { content: "plan 8" } });
    expect(story.slot.lost).toBeUndefined();
  });
});
