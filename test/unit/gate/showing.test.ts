import { describe, expect, it } from "vitest";
import type { Showing } from "../../../src/gate/index.js";
import { granted, proposalOf, Story } from "./story.js";

function proposed(): Story {
  const story = new Story();
  story.propose(proposalOf("p-1"));
  story.evidence.splice(0);
  return story;
}

function showings(story: Story): readonly Showing[] {
  const { current } = story.slot;
  return current.state === "pending" ? current.showings : [];
}

const state = (story: Story) => showings(story)[0]?.state;

describe("a showing of the notice", () => {
  it("is known from the moment the platform is given it", () => {
    const story = proposed();
    expect(story.sending("p-1", "part-1", 2_000)).toEqual({ kind: "recorded" });
    expect(showings(story)).toStrictEqual([{ part: "part-1", state: "sending", startedAt: 2_000 }]);
    expect(story.evidence).toEqual([]);
  });

  it("knows its platform id in advance, where the channel chooses ids", () => {
    const story = proposed();
    story.apply({ type: "noticeSending", proposal: "p-1", part: "part-1", ref: "3EB0", at: 2_000 });
    expect(showings(story)).toStrictEqual([{ part: "part-1", state: "sending", startedAt: 2_000, ref: "3EB0" }]);
  });

  it("is sent once the platform took it, with id, time and place", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    expect(story.sent("p-1", "part-1", 2_010, { sentAt: 1_990, order: 5 })).toEqual({ kind: "recorded" });
    expect(showings(story)).toStrictEqual([
      { part: "part-1", state: "sent", startedAt: 2_000, ref: "ref-part-1", sentAt: 1_990, order: 5 },
    ]);
    expect(story.evidence).toMatchObject([
      { type: "notice_sent", at: 2_010, proposal: "p-1", detail: { part: "part-1", ref: "ref-part-1", sentAt: 1_990 } },
    ]);
    const untold = proposed();
    untold.sending("p-1", "part-1", 2_000);
    untold.sent("p-1", "part-1", 2_010);
    expect(untold.evidence.at(-1)?.detail).toStrictEqual({ part: "part-1", ref: "ref-part-1" });
  });

  it("rises by receipts, each level on record once", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.sent("p-1", "part-1", 2_010);
    story.evidence.splice(0);
    story.delivered("p-1", "part-1", 2_020);
    story.delivered("p-1", "part-1", 2_030, "delivered", 2_025);
    story.delivered("p-1", "part-1", 2_040, "read", 2_035);
    expect(showings(story)).toStrictEqual([
      {
        part: "part-1",
        state: "read",
        startedAt: 2_000,
        ref: "ref-part-1",
        deliveredAt: 2_025,
        readAt: 2_035,
      },
    ]);
    expect(story.evidence).toMatchObject([
      { type: "notice_delivered", at: 2_020, detail: { part: "part-1", level: "accepted" } },
      { type: "notice_delivered", at: 2_030, detail: { level: "delivered", deliveredAt: 2_025 } },
      { type: "notice_delivered", at: 2_040, detail: { level: "read", deliveredAt: 2_035 } },
    ]);
    expect(story.evidence[0]?.detail).not.toHaveProperty("deliveredAt");
  });

  it("says nothing of a time of arrival for what was merely accepted, or where nobody told", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.delivered("p-1", "part-1", 2_020, "accepted", 2_015);
    story.delivered("p-1", "part-1", 2_030, "delivered");
    expect(showings(story)).toStrictEqual([{ part: "part-1", state: "delivered", startedAt: 2_000 }]);
  });

  it("has a time of arrival and none of reading when it was merely delivered", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.delivered("p-1", "part-1", 2_030, "delivered", 2_025);
    expect(showings(story)).toStrictEqual([
      { part: "part-1", state: "delivered", startedAt: 2_000, deliveredAt: 2_025 },
    ]);
  });

  it("never falls back, and a repetition changes nothing", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.sent("p-1", "part-1", 2_010);
    story.delivered("p-1", "part-1", 2_020, "read", 2_019);
    story.evidence.splice(0);
    const before = story.slot;
    expect(story.sending("p-1", "part-1", 9_000)).toEqual({ kind: "recorded" });
    expect(story.sent("p-1", "part-1", 9_000)).toEqual({ kind: "recorded" });
    expect(story.delivered("p-1", "part-1", 9_000, "accepted", 9_000)).toEqual({ kind: "recorded" });
    expect(story.delivered("p-1", "part-1", 9_000, "delivered", 2_019)).toEqual({ kind: "recorded" });
    expect(story.delivered("p-1", "part-1", 9_000, "read", 2_019)).toEqual({ kind: "recorded" });
    expect(story.failed("p-1", "part-1", 9_000)).toEqual({ kind: "recorded" });
    expect(story.failed("p-1", "part-1", 9_000, "unknown")).toEqual({ kind: "recorded" });
    expect(story.slot).toBe(before);
    expect(story.evidence).toEqual([]);
  });

  it("did not fail once it was delivered", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.delivered("p-1", "part-1", 2_020, "delivered", 2_019);
    const before = story.slot;
    story.failed("p-1", "part-1", 9_000);
    expect(story.slot).toBe(before);
  });

  it("learns the true time of arrival from a receipt that comes late", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.delivered("p-1", "part-1", 2_050, "read", 2_040);
    story.evidence.splice(0);
    story.delivered("p-1", "part-1", 2_060, "delivered", 2_020);
    expect(showings(story)).toMatchObject([{ state: "read", deliveredAt: 2_020, readAt: 2_040 }]);
    story.delivered("p-1", "part-1", 2_070, "delivered", 2_030);
    expect(showings(story)).toMatchObject([{ state: "read", deliveredAt: 2_020, readAt: 2_040 }]);
    expect(story.evidence).toEqual([]);
  });

  it("is sent even when the word of its sending was lost", () => {
    const story = proposed();
    story.sent("p-1", "part-1", 2_010);
    expect(showings(story)).toStrictEqual([{ part: "part-1", state: "sent", startedAt: 2_010, ref: "ref-part-1" }]);
  });

  it("keeps its level when the platform's answer comes after its receipts", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.delivered("p-1", "part-1", 2_005, "delivered", 2_004);
    story.sent("p-1", "part-1", 2_010, { order: 4 });
    expect(showings(story)).toMatchObject([{ state: "delivered", ref: "ref-part-1", order: 4 }]);
  });

  it("stays failed when the platform's answer comes after the failure", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.failed("p-1", "part-1", 2_005);
    story.sent("p-1", "part-1", 2_010);
    story.delivered("p-1", "part-1", 2_020, "accepted");
    expect(showings(story)).toMatchObject([{ state: "failed", ref: "ref-part-1" }]);
  });

  it("fails after it was accepted, when the platform says so", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.sent("p-1", "part-1", 2_010);
    story.delivered("p-1", "part-1", 2_020, "accepted");
    story.evidence.splice(0);
    expect(story.failed("p-1", "part-1", 2_030)).toEqual({ kind: "recorded" });
    expect(state(story)).toBe("failed");
    expect(story.evidence).toMatchObject([
      { type: "notice_failed", at: 2_030, detail: { part: "part-1", state: "failed", code: "blocked" } },
    ]);
  });

  it("fails once it was sent", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.sent("p-1", "part-1", 2_010);
    story.failed("p-1", "part-1", 2_030);
    expect(state(story)).toBe("failed");
  });

  it("is not unknown once the platform took it", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.sent("p-1", "part-1", 2_010);
    const before = story.slot;
    story.failed("p-1", "part-1", 2_030, "unknown");
    expect(story.slot).toBe(before);
  });

  it("is settled by whatever comes after nobody knew", () => {
    const unknown = () => {
      const story = proposed();
      story.sending("p-1", "part-1", 2_000);
      story.failed("p-1", "part-1", 2_005, "unknown");
      return story;
    };
    const known = unknown();
    expect(known.evidence).toMatchObject([{ type: "notice_failed", detail: { state: "unknown" } }]);
    const before = known.slot;
    known.failed("p-1", "part-1", 2_006, "unknown");
    expect(known.slot).toBe(before);
    known.sent("p-1", "part-1", 2_010);
    expect(state(known)).toBe("sent");
    const arrived = unknown();
    arrived.delivered("p-1", "part-1", 2_010, "delivered", 2_008);
    expect(state(arrived)).toBe("delivered");
    const failed = unknown();
    failed.failed("p-1", "part-1", 2_010);
    expect(state(failed)).toBe("failed");
  });

  it("arrived, when the platform says so after it said that it failed", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.failed("p-1", "part-1", 2_005);
    story.delivered("p-1", "part-1", 2_010, "delivered", 2_009);
    expect(state(story)).toBe("delivered");
  });

  it("does not fail twice", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.failed("p-1", "part-1", 2_005);
    const before = story.slot;
    story.failed("p-1", "part-1", 2_006);
    story.failed("p-1", "part-1", 2_006, "unknown");
    expect(story.slot).toBe(before);
  });

  it("begins anew when it was surely not taken and is given to the platform again", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.sending("p-1", "part-1", 5_000);
    expect(showings(story)).toStrictEqual([{ part: "part-1", state: "sending", startedAt: 5_000 }]);
    story.failed("p-1", "part-1", 5_005, "unknown");
    story.sending("p-1", "part-1", 6_000);
    expect(showings(story)).toStrictEqual([{ part: "part-1", state: "sending", startedAt: 6_000 }]);
  });

  it("does not begin anew once it was sent", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.sent("p-1", "part-1", 2_010);
    story.sending("p-1", "part-1", 5_000);
    expect(showings(story)).toMatchObject([{ state: "sent", startedAt: 2_000 }]);
  });

  it("takes a new id of the platform", () => {
    const story = proposed();
    story.sending("p-1", "part-1", 2_000);
    story.sent("p-1", "part-1", 2_010);
    story.apply({ type: "noticeSent", proposal: "p-1", part: "part-1", ref: "other", at: 2_011 });
    expect(showings(story)).toMatchObject([{ state: "sent", ref: "other" }]);
  });

  it("can fail without having been sent: an earlier part of the answer could not be", () => {
    const story = proposed();
    expect(story.failed("p-1", "part-1", 2_000)).toEqual({ kind: "recorded" });
    expect(showings(story)).toStrictEqual([{ part: "part-1", state: "failed", startedAt: 2_000 }]);
  });

  it("stands beside others, each by its part", () => {
    const story = proposed();
    story.show("p-1", "part-1", 2_000);
    story.show("p-1", "part-2", 3_000);
    story.failed("p-1", "part-1", 3_500);
    expect(showings(story)).toMatchObject([
      { part: "part-1", state: "failed" },
      { part: "part-2", state: "accepted" },
    ]);
  });
});

describe("stale news of a notice", () => {
  it("changes nothing: of another proposal, of none, of a part that was never given out", () => {
    const story = proposed();
    const before = story.slot;
    expect(story.sending("p-0", "part-0", 2_000)).toEqual({ kind: "stale" });
    expect(story.sent("p-0", "part-0", 2_000)).toEqual({ kind: "stale" });
    expect(story.delivered("p-0", "part-0", 2_000)).toEqual({ kind: "stale" });
    expect(story.failed("p-0", "part-0", 2_000)).toEqual({ kind: "stale" });
    expect(story.delivered("p-1", "part-9", 2_000)).toEqual({ kind: "stale" });
    expect(story.slot).toBe(before);
    expect(new Story().sending("p-1", "part-1", 1)).toEqual({ kind: "stale" });
    expect(story.evidence).toEqual([]);
  });

  it("changes nothing once the proposal was granted", () => {
    const story = granted();
    const before = story.slot;
    expect(story.failed("p-1", "part-1", 4_000)).toEqual({ kind: "stale" });
    expect(story.delivered("p-1", "part-1", 4_000, "read", 4_000)).toEqual({ kind: "stale" });
    expect(story.slot).toBe(before);
  });
});
