import { describe, expect, it } from "vitest";
import { awaitsReceipt, type HumanMessage } from "../../../src/gate/index.js";
import { granted, proposalOf, type Saying, Story, saying, shown, ttl } from "./story.js";

function underway(): Story {
  const story = new Story();
  story.propose(proposalOf("p-1"));
  story.sending("p-1", "part-1", 2_000);
  return story;
}

const yes = (more: Saying = {}, time = 3_000): HumanMessage => saying("si", "t-2", time, more);
const awaits = (story: Story, event: HumanMessage) =>
  awaitsReceipt(story.slot, event, story.lastSent === undefined ? {} : { lastSent: story.lastSent });

describe("a yes that lacks only a receipt", () => {
  it("is worth a wait while the notice is being sent, has been sent, or is not known to have been", () => {
    const story = underway();
    expect(awaits(story, yes())).toBe(true);
    story.failed("p-1", "part-1", 2_005, "unknown");
    expect(awaits(story, yes())).toBe(true);
    story.sent("p-1", "part-1", 2_010);
    expect(awaits(story, yes())).toBe(true);
  });

  it("is worth a wait until the notice has reached the level", () => {
    const story = shown();
    expect(awaits(story, yes())).toBe(false);
    expect(awaits(story, yes({ level: "delivered" }))).toBe(true);
    story.delivered("p-1", "part-1", 2_050, "delivered", 2_050);
    expect(awaits(story, yes({ level: "delivered" }))).toBe(false);
  });

  it("is not worth a wait when the notice failed, is buried, came later, lapsed, or was not sent", () => {
    const failed = underway();
    failed.failed("p-1", "part-1", 2_005);
    expect(awaits(failed, yes())).toBe(false);
    const buried = underway();
    buried.lastSent = "other";
    expect(awaits(buried, yes())).toBe(false);
    expect(awaits(underway(), yes({}, 1_999))).toBe(false);
    expect(awaits(underway(), yes({}, 1_000 + ttl))).toBe(false);
    const unsent = new Story();
    unsent.propose(proposalOf("p-1"));
    expect(awaits(unsent, yes())).toBe(false);
  });

  it("waits for the receipt of the last showing, not of a buried one", () => {
    const story = shown();
    story.sending("p-1", "part-2", 2_500);
    expect(awaits(story, yes())).toBe(true);
    const other = underway();
    other.show("p-1", "part-2", 2_500);
    expect(awaits(other, yes())).toBe(false);
    other.lastSent = "other";
    expect(awaits(other, yes())).toBe(false);
  });

  it("waits where nobody says what was sent last", () => {
    expect(awaitsReceipt(underway().slot, yes())).toBe(true);
    const story = shown();
    expect(awaitsReceipt(story.slot, yes())).toBe(false);
  });

  it("waits for the id of the notice when it quotes what may be the notice", () => {
    const story = underway();
    expect(awaits(story, yes({ quotes: "ref-part-1" }))).toBe(true);
    story.sent("p-1", "part-1", 2_010);
    expect(awaits(story, yes({ quotes: "ref-part-1" }))).toBe(false);
    expect(awaits(story, yes({ quotes: "ref-part-0" }))).toBe(false);
    const failed = underway();
    failed.failed("p-1", "part-1", 2_005);
    expect(awaits(failed, yes({ quotes: "ref-part-1" }))).toBe(false);
  });

  it("is no yes", () => {
    expect(awaits(underway(), saying("no", "t-2", 3_000))).toBe(false);
    expect(awaits(underway(), yes({ provenance: "caption" }))).toBe(false);
  });

  it("is decided already, or finds nothing that waits", () => {
    const story = underway();
    story.apply(yes());
    expect(awaits(story, yes({ fence: 4_000 }))).toBe(false);
    expect(awaits(granted(), saying("si", "t-3", 4_000))).toBe(false);
    expect(awaits(new Story(), yes())).toBe(false);
  });

  it("changes nothing by asking", () => {
    const story = underway();
    const before = JSON.stringify(story.slot);
    awaits(story, yes());
    expect(JSON.stringify(story.slot)).toBe(before);
  });
});
