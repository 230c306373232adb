import { describe, expect, it } from "vitest";
import { humanFacts } from "../../../src/gate/index.js";
import { proposalOf, type Saying, Story, saying, shown, ttl } from "./story.js";

const yes = (story: Story, time: number, more: Saying = {}, turn = "t-2") =>
  story.apply(saying("dale", turn, time, more));

/** A proposal whose notice part-1 was handed over at 2000; nothing is known of it yet. */
function underway(): Story {
  const story = new Story();
  story.propose(proposalOf("p-1"));
  story.sending("p-1", "part-1", 2_000);
  story.evidence.splice(0);
  return story;
}

describe("a person's message", () => {
  it("is an ordinary turn when nothing waits", () => {
    const story = new Story();
    expect(yes(story, 3_000)).toEqual({ kind: "none" });
    expect(story.slot).toEqual({
      version: 1,
      current: { state: "empty" },
      decided: { turn: "t-2", fence: 3_000, outcome: { kind: "none" } },
    });
    expect(story.evidence).toEqual([]);
  });

  it("grants what it was shown, and the words go on record", () => {
    const story = shown();
    const outcome = story.apply(saying(" Dale ", "t-2", 3_000, { fence: 1_200, at: 3_005, sentAt: 2_990 }));
    expect(outcome).toMatchObject({ kind: "granted", proposal: { id: "p-1" } });
    expect(story.slot.current).toEqual({
      state: "granted",
      proposal: proposalOf("p-1"),
      grant: { turn: "t-2", message: "m-t-2", at: 3_005 },
    });
    expect(story.slot.decided).toEqual({ turn: "t-2", fence: 1_200, outcome });
    expect(story.evidence).toEqual([
      {
        type: "granted",
        at: 3_005,
        proposal: "p-1",
        agent: "cobranzas",
        tool: "praxis_crear_record",
        argsHash: "fp-p-1",
        turn: "t-2",
        detail: {
          message: "m-t-2",
          words: " Dale ",
          part: "part-1",
          quoted: false,
          sentAt: 2_990,
          receivedAt: 3_000,
        },
      },
    ]);
  });

  it.each([
    ["another text", {}, "bueno dale pero cambiame la cantidad", "other_words"],
    ["a yes that was not typed", { provenance: "forwarded" }, "dale", "not_typed"],
    ["a yes that a voice note was transcribed to", { provenance: "transcript" }, "dale", "not_typed"],
    ["a yes that quotes something else", { quotes: "ref-part-0" }, "dale", "quotes_other"],
  ] as const)("discards by %s", (_what, more, text, reason) => {
    const story = shown();
    expect(story.apply(saying(text, "t-2", 3_000, more))).toMatchObject({
      kind: "discarded",
      proposal: { id: "p-1" },
    });
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.evidence).toMatchObject([
      { type: "discarded", turn: "t-2", at: 3_000, detail: { reason, message: "m-t-2" } },
    ]);
    expect(story.evidence[0]?.detail.words).toBe("provenance" in more ? undefined : text);
    expect(yes(story, 4_000, {}, "t-3")).toEqual({ kind: "none" });
  });

  it("is on record with what was typed, when, and whether it quoted something, as far as there is room", () => {
    const long = shown();
    long.apply(saying("x".repeat(5_000), "t-2", 3_000, { quotes: "ref-part-0" }));
    expect(long.evidence.at(-1)?.detail).toStrictEqual({
      message: "m-t-2",
      words: "x".repeat(2_000),
      quoted: true,
      sentAt: 3_000,
      receivedAt: 3_000,
      reason: "other_words",
    });
  });

  it("is decided by the words and the tolerance that it came with", () => {
    const event = saying("Simón!", "t-2", 3_000);
    const rule = { ...event.rule, words: ["simon"], tolerate: ["final_punctuation"] } as const;
    expect(shown().apply({ ...event, rule })).toMatchObject({ kind: "granted" });
    expect(shown().apply({ ...event, rule: { ...rule, tolerate: [] } })).toMatchObject({ kind: "discarded" });
  });

  it("has no say after the expiry, whatever it is", () => {
    const late = shown();
    expect(yes(late, 1_000 + ttl)).toMatchObject({ kind: "expired", proposal: { id: "p-1" } });
    expect(late.slot.current).toEqual({ state: "empty" });
    expect(late.evidence).toMatchObject([{ type: "expired", turn: "t-2", detail: { message: "m-t-2" } }]);
    expect(shown().apply(saying("no", "t-2", 1_000 + ttl))).toMatchObject({ kind: "expired" });
    expect(yes(shown(), 1_000 + ttl - 1)).toMatchObject({ kind: "granted" });
  });

  it("has no say when it is judged after the expiry, however early it came", () => {
    expect(yes(shown(), 3_000, { at: 1_000 + ttl })).toMatchObject({ kind: "expired" });
  });
});

describe("a yes to a notice that the person cannot have seen", () => {
  it("was never sent", () => {
    const story = new Story();
    story.propose(proposalOf("p-1"));
    expect(yes(story, 3_000)).toMatchObject({ kind: "unseen", reason: "not_sent", again: true });
    expect(story.slot.current).toMatchObject({ state: "pending", reshown: 1 });
    expect(story.recorded()).toEqual(["proposed", "unseen"]);
  });

  it("is not delivered yet", () => {
    const story = underway();
    expect(yes(story, 3_000)).toMatchObject({ kind: "unseen", reason: "not_delivered", again: true });
    expect(story.evidence).toMatchObject([
      {
        type: "unseen",
        at: 3_000,
        turn: "t-2",
        detail: { reason: "not_delivered", again: true, message: "m-t-2" },
      },
    ]);
  });

  it("was taken by the platform, while an earlier part of the answer is missing", () => {
    const story = underway();
    story.sent("p-1", "part-1", 2_010);
    expect(yes(story, 3_000)).toMatchObject({ kind: "unseen", reason: "not_delivered" });
  });

  it.each(["delivered", "read"] as const)("has not reached the level %s", (level) => {
    const story = shown();
    if (level === "read") story.delivered("p-1", "part-1", 2_050, "delivered", 2_050);
    expect(yes(story, 3_000, { level })).toMatchObject({ kind: "unseen", reason: "not_delivered" });
  });

  it.each(["delivered", "read"] as const)("counts once it has reached the level %s", (level) => {
    const story = shown();
    story.delivered("p-1", "part-1", 2_050, level, 2_050);
    expect(yes(story, 3_000, { level })).toMatchObject({ kind: "granted" });
    const higher = shown();
    higher.delivered("p-1", "part-1", 2_050, "read", 2_050);
    expect(yes(higher, 3_000, { level })).toMatchObject({ kind: "granted" });
  });

  it("failed, after it had been accepted", () => {
    const story = shown();
    story.failed("p-1", "part-1", 2_500);
    expect(yes(story, 3_000)).toMatchObject({ kind: "unseen", reason: "not_delivered" });
  });

  it("came in here before the platform was given the notice", () => {
    expect(yes(shown(), 1_999)).toMatchObject({ kind: "unseen", reason: "too_early" });
    expect(yes(shown(), 2_000)).toMatchObject({ kind: "granted" });
  });

  it("stands before the notice in the platform's order", () => {
    const ordered = () => {
      const story = underway();
      story.sent("p-1", "part-1", 2_010, { order: 7 });
      story.delivered("p-1", "part-1", 2_010);
      return story;
    };
    expect(yes(ordered(), 3_000, { order: 6 })).toMatchObject({ kind: "unseen", reason: "too_early" });
    expect(yes(ordered(), 3_000, { order: 7 })).toMatchObject({ kind: "unseen", reason: "too_early" });
    expect(yes(ordered(), 3_000, { order: 8 })).toMatchObject({ kind: "granted" });
    expect(yes(ordered(), 3_000)).toMatchObject({ kind: "granted" });
    expect(yes(shown(), 3_000, { order: 1 })).toMatchObject({ kind: "granted" });
  });

  it("was typed before the notice by the platform's clock, at its resolution", () => {
    const stamped = (sentAt: number) => {
      const story = underway();
      story.sent("p-1", "part-1", 2_010, { sentAt });
      story.delivered("p-1", "part-1", 2_010);
      return story;
    };
    const typed = { sentAt: 50_000, sentAtResolution: 1_000 };
    expect(yes(stamped(51_000), 3_000, typed)).toMatchObject({ kind: "unseen", reason: "too_early" });
    expect(yes(stamped(50_999), 3_000, typed)).toMatchObject({ kind: "granted" });
    expect(yes(stamped(50_000), 3_000, typed)).toMatchObject({ kind: "granted" });
    expect(yes(stamped(50_001), 3_000, { sentAt: 50_000 })).toMatchObject({ kind: "unseen", reason: "too_early" });
  });

  it("was typed before the notice arrived, where the level is arrival", () => {
    const arrived = () => {
      const story = underway();
      story.sent("p-1", "part-1", 2_010, { sentAt: 50_000 });
      story.delivered("p-1", "part-1", 2_900, "delivered", 60_000);
      return story;
    };
    const typed = { sentAt: 55_000, sentAtResolution: 1_000 };
    expect(yes(arrived(), 3_000, { ...typed, level: "delivered" })).toMatchObject({
      kind: "unseen",
      reason: "too_early",
    });
    expect(yes(arrived(), 3_000, { ...typed, level: "accepted" })).toMatchObject({ kind: "granted" });
    expect(yes(arrived(), 3_000, { sentAt: 60_000, level: "delivered" })).toMatchObject({ kind: "granted" });
  });

  it("was typed before the notice was read, where the level is reading", () => {
    const read = () => {
      const story = underway();
      story.sent("p-1", "part-1", 2_010);
      story.delivered("p-1", "part-1", 2_900, "delivered", 60_000);
      story.delivered("p-1", "part-1", 2_900, "read", 70_000);
      return story;
    };
    const typed = { sentAt: 65_000 };
    expect(yes(read(), 3_000, { ...typed, level: "read" })).toMatchObject({ kind: "unseen", reason: "too_early" });
    expect(yes(read(), 3_000, { ...typed, level: "delivered" })).toMatchObject({ kind: "granted" });
    expect(yes(read(), 3_000, { sentAt: 70_000, level: "read" })).toMatchObject({ kind: "granted" });
  });

  it("is buried under a later message", () => {
    const story = shown();
    story.lastSent = "part-of-somebody-else";
    expect(yes(story, 3_000)).toMatchObject({ kind: "unseen", reason: "buried", again: true });
  });

  it("is not known to be the last thing that was sent", () => {
    const story = shown();
    story.lastSent = undefined;
    expect(yes(story, 3_000)).toMatchObject({ kind: "unseen", reason: "buried" });
  });

  it("is asked for its reasons in order: sent, typed after, delivered, not buried", () => {
    const story = underway();
    story.lastSent = "other";
    expect(yes(story, 1_000)).toMatchObject({ reason: "too_early" });
    expect(yes(story, 3_000, {}, "t-3")).toMatchObject({ reason: "not_delivered" });
    story.delivered("p-1", "part-1", 3_100);
    expect(yes(story, 3_200, {}, "t-4")).toMatchObject({ reason: "buried" });
  });
});

describe("several showings", () => {
  it("are confirmed by the one that was delivered and is last", () => {
    const story = shown();
    story.lastSent = "other";
    yes(story, 3_000);
    story.show("p-1", "part-2", 3_100);
    expect(yes(story, 4_000, {}, "t-3")).toMatchObject({ kind: "granted" });
    expect(story.evidence.at(-1)).toMatchObject({ detail: { part: "part-2" } });
  });

  it("do not lend each other their receipts: the last one did not arrive, the delivered one is buried", () => {
    const story = shown();
    story.lastSent = "other";
    yes(story, 3_000);
    story.sending("p-1", "part-2", 3_100);
    expect(yes(story, 4_000, {}, "t-3")).toMatchObject({ kind: "unseen", reason: "buried" });
  });

  it("do not make a word answer a notice that came after it", () => {
    const story = shown();
    story.lastSent = "other";
    yes(story, 3_000);
    story.show("p-1", "part-2", 5_000);
    expect(yes(story, 4_000, {}, "t-3")).toMatchObject({ kind: "unseen", reason: "buried" });
  });
});

describe("a yes that quotes the notice", () => {
  it("proves that the notice arrived, whatever the receipts say", () => {
    const story = underway();
    story.sent("p-1", "part-1", 2_010);
    story.failed("p-1", "part-1", 2_020);
    story.lastSent = "other";
    expect(yes(story, 3_000, { quotes: "ref-part-1", level: "delivered" })).toMatchObject({ kind: "granted" });
    expect(story.evidence.at(-1)).toMatchObject({ type: "granted", detail: { quoted: true, part: "part-1" } });
  });

  it("may quote any of its showings", () => {
    const story = shown();
    story.show("p-1", "part-2", 2_500);
    expect(yes(story, 3_000, { quotes: "ref-part-1" })).toMatchObject({ kind: "granted" });
    const other = shown();
    other.show("p-1", "part-2", 2_500);
    expect(yes(other, 3_000, { quotes: "ref-part-2" })).toMatchObject({ kind: "granted" });
    expect(other.evidence.at(-1)).toMatchObject({ detail: { part: "part-2" } });
  });

  it("cannot have been typed before it", () => {
    const story = underway();
    story.sent("p-1", "part-1", 2_010, { order: 9, sentAt: 2_010 });
    story.delivered("p-1", "part-1", 2_010);
    expect(yes(story, 1_999, { quotes: "ref-part-1", sentAt: 3_000 })).toMatchObject({
      kind: "unseen",
      reason: "too_early",
    });
    expect(yes(story, 3_000, { quotes: "ref-part-1", order: 9 }, "t-3")).toMatchObject({ reason: "too_early" });
    expect(yes(story, 3_000, { quotes: "ref-part-1", sentAt: 2_009 }, "t-4")).toMatchObject({ reason: "too_early" });
  });

  it("need not have been typed after the receipt", () => {
    const story = underway();
    story.sent("p-1", "part-1", 2_010);
    story.delivered("p-1", "part-1", 9_000, "delivered", 9_000);
    expect(yes(story, 3_000, { quotes: "ref-part-1", level: "delivered" })).toMatchObject({ kind: "granted" });
  });

  it("has lapsed with it", () => {
    expect(yes(shown(), 1_000 + ttl, { quotes: "ref-part-1" })).toMatchObject({ kind: "expired" });
  });

  it("quotes something else while the notice has no id", () => {
    expect(yes(underway(), 3_000, { quotes: "ref-part-1" })).toMatchObject({ kind: "discarded" });
  });

  it("is nothing when its words are no yes", () => {
    expect(shown().apply(saying("no", "t-2", 3_000, { quotes: "ref-part-1" }))).toMatchObject({ kind: "discarded" });
  });
});

describe("showing again", () => {
  it("happens three times, then the proposal is discarded", () => {
    const story = shown();
    story.lastSent = "other";
    for (const turn of ["t-2", "t-3", "t-4"]) {
      expect(yes(story, 3_000, {}, turn)).toMatchObject({ kind: "unseen", again: true });
    }
    expect(story.slot.current).toMatchObject({ reshown: 3 });
    story.evidence.splice(0);
    expect(yes(story, 3_000, {}, "t-5")).toMatchObject({ kind: "unseen", reason: "buried", again: false });
    expect(story.slot.current).toEqual({ state: "empty" });
    expect(story.evidence).toMatchObject([
      { type: "unseen", detail: { reason: "buried", again: false } },
      { type: "discarded", turn: "t-5", detail: { reason: "shown_too_often", message: "m-t-5" } },
    ]);
  });

  it("happens as often as the rule says", () => {
    const story = shown();
    story.lastSent = "other";
    expect(yes(story, 3_000, { showAgainLimit: 0 })).toMatchObject({ kind: "unseen", again: false });
  });

  it("keeps the showings that there were", () => {
    const story = shown();
    story.lastSent = "other";
    yes(story, 3_000);
    expect(story.slot.current).toMatchObject({ state: "pending", showings: [{ part: "part-1", state: "accepted" }] });
  });
});

describe("the facts of a message", () => {
  it("decide nothing by themselves: a text of anybody else has no words", () => {
    const facts = humanFacts({ id: "m", text: "dale", provenance: "bot", sentAt: 3_000, receivedAt: 3_000 });
    expect(shown().apply({ ...saying("dale", "t-2", 3_000), facts })).toMatchObject({ kind: "discarded" });
  });
});
