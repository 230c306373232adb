import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Showing } from "../../../src/gate/index.js";
import type { OutboundPart } from "../../../src/outbound/index.js";
import { PostponeJob } from "../../../src/queue/index.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";
import { createSendingRig, type SendingRig } from "../../fixtures/sending.js";

const redis = testRedis();
let rig: SendingRig;
beforeEach(() => {
  rig = createSendingRig({ redis, prefix: testPrefix() });
});
afterEach(() => expect(rig.next).toEqual([]));

const session = "telegram:bot:1:2";
const showings = async (): Promise<readonly Showing[]> => {
  const { current } = await rig.slots.read(session);
  return current.state === "pending" ? current.showings : [];
};
const noticePart = async (changes: Partial<OutboundPart> = {}): Promise<OutboundPart> => {
  const proposal = await rig.propose();
  const text = `Hello.\n\n${proposal.notice}`;
  const notice = { proposal: proposal.id, expiresAt: proposal.expiresAt, from: text.length - proposal.notice.length };
  return rig.part({ text, notice, ...changes });
};

describe("a part", () => {
  it("is handed over once, however often its job runs", async () => {
    const part = rig.part();
    await rig.send(part);
    await rig.send(part);
    expect(rig.handed).toHaveLength(1);
    expect(await rig.deliveries.read(part.id)).toMatchObject({ state: "accepted", ref: "1", attempts: 1 });
  });

  it("is not handed over again after a run that was interrupted while it was being sent", async () => {
    const part = rig.part();
    await rig.deliveries.apply(part.id, { type: "sending", part, at: rig.clock });
    await rig.send(part);
    expect(rig.handed).toEqual([]);
    expect(await rig.deliveries.read(part.id)).toMatchObject({ state: "unknown", code: "interrupted" });
  });

  it("is handed over again under the same id where that is harmless", async () => {
    rig = createSendingRig({ redis, prefix: testPrefix() }, { ownsIds: true, repeatsSafely: true });
    const part = rig.part();
    await rig.deliveries.apply(part.id, { type: "sending", part, ref: "own-before", at: rig.clock });
    await rig.send(part);
    expect(rig.handed.map(({ id }) => id)).toEqual(["own-before"]);
    expect(await rig.deliveries.read(part.id)).toMatchObject({ state: "accepted", ref: "own-before" });
  });

  it("keeps its id when the platform surely did not take it", async () => {
    rig = createSendingRig({ redis, prefix: testPrefix() }, { ownsIds: true });
    rig.next.push({ status: "retry", code: "unreachable", reason: "nobody there" });
    const part = rig.part();
    await expect(rig.send(part)).rejects.toBeInstanceOf(PostponeJob);
    await rig.send(part);
    expect(rig.handed.map(({ id }) => id)).toEqual(["own-1", "own-1"]);
  });

  it("waits for as long as the platform asks", async () => {
    rig.next.push({ status: "retry", code: "too_many", reason: "slow down", afterMs: 7000 });
    const part = rig.part();
    await expect(rig.send(part)).rejects.toMatchObject({ afterMs: 7000 });
    expect(await rig.deliveries.read(part.id)).toMatchObject({ state: "queued", code: "too_many" });
  });

  it("is given up after a day", async () => {
    rig.next.push({ status: "retry", code: "unreachable", reason: "nobody there" });
    const part = rig.part({ createdAt: rig.clock - 25 * 3_600_000 });
    await rig.send(part);
    expect(await rig.deliveries.read(part.id)).toMatchObject({ state: "failed", code: "unreachable" });
  });

  it("waits for its turn under the account's limits without being counted as tried", async () => {
    rig.waits.push(900);
    const part = rig.part();
    await expect(rig.send(part)).rejects.toMatchObject({ afterMs: 900 });
    expect(rig.handed).toEqual([]);
    expect(await rig.deliveries.read(part.id)).toMatchObject({ state: "queued", attempts: 0 });
  });

  it("is not sent when the part before it could not be", async () => {
    rig.next.push({ status: "failed", code: "blocked", reason: "The person has blocked the bot." });
    await rig.send(rig.part({ of: 2 }));
    const second = rig.part({ id: "out-t-1-2", index: 2, of: 2 });
    await rig.send(second);
    expect(rig.handed).toHaveLength(1);
    expect(await rig.deliveries.read(second.id)).toMatchObject({ state: "failed", code: "answer_incomplete" });
  });
});

describe("a notice", () => {
  it("counts as delivered once the platform has taken it, where the platform tells no more", async () => {
    await rig.send(await noticePart());
    expect(await showings()).toMatchObject([{ state: "accepted", ref: "1", order: 1 }]);
  });

  it("does not count as delivered before its receipt, where the channel asks for one", async () => {
    rig = createSendingRig({ redis, prefix: testPrefix() }, { level: "delivered" });
    await rig.send(await noticePart());
    expect(await showings()).toMatchObject([{ state: "sent" }]);
    const receipt = { ref: "1", level: "delivered", at: rig.clock + 1000, receivedAt: rig.clock } as const;
    await rig.watch.receipt("telegram", "bot", receipt);
    expect(await showings()).toMatchObject([{ state: "delivered", deliveredAt: rig.clock + 1000 }]);
  });

  it("counts a receipt that came before the send had returned", async () => {
    rig = createSendingRig({ redis, prefix: testPrefix() }, { level: "delivered" });
    await rig.watch.receipt("telegram", "bot", { ref: "1", level: "read", at: rig.clock, receivedAt: rig.clock });
    await rig.send(await noticePart());
    expect(await showings()).toMatchObject([{ state: "read" }]);
  });

  it("does not count while another part of its answer is missing", async () => {
    rig = createSendingRig({ redis, prefix: testPrefix() }, { level: "delivered" });
    await rig.send(rig.part({ of: 2 }));
    await rig.send(await noticePart({ id: "out-t-1-2", index: 2, of: 2 }));
    const receipt = { level: "delivered", at: rig.clock, receivedAt: rig.clock } as const;
    await rig.watch.receipt("telegram", "bot", { ...receipt, ref: "2" });
    expect(await showings()).toMatchObject([{ state: "sent" }]);
    await rig.watch.receipt("telegram", "bot", { ...receipt, ref: "1" });
    expect(await showings()).toMatchObject([{ state: "delivered" }]);
  });

  it("does not count when an earlier part may be lost, though it was taken itself", async () => {
    rig.next.push({ status: "unknown", code: "timeout", reason: "no answer" });
    await rig.send(rig.part({ of: 2 }));
    await rig.send(await noticePart({ id: "out-t-1-2", index: 2, of: 2 }));
    expect(await showings()).toMatchObject([{ state: "sent" }]);
  });

  it("fails with the receipt of a part of its answer", async () => {
    rig = createSendingRig({ redis, prefix: testPrefix() }, { level: "delivered" });
    await rig.send(await noticePart());
    await rig.watch.receipt("telegram", "bot", { ref: "1", level: "failed", at: rig.clock, receivedAt: rig.clock });
    expect(await showings()).toMatchObject([{ state: "failed" }]);
  });

  it("goes out once more, alone, when nobody knows whether it arrived", async () => {
    rig.next.push({ status: "unknown", code: "timeout", reason: "no answer" });
    const part = await noticePart();
    await rig.send(part);
    expect(await showings()).toMatchObject([{ state: "unknown" }]);
    expect(rig.enqueued.map(({ text, notice }) => ({ text, notice }))).toEqual([
      { text: part.text.slice(part.notice?.from), notice: { ...part.notice, from: 0 } },
    ]);
    for (const again of rig.enqueued.splice(0)) await rig.send(again);
    expect((await showings()).map(({ state }) => state)).toEqual(["unknown", "accepted"]);
    expect(rig.enqueued).toEqual([]);
  });

  it("is left out of the part when its proposal is gone by the time that it is sent", async () => {
    const part = await noticePart();
    await rig.slots.apply(session, { type: "expire", at: rig.clock + 600_001 });
    await rig.send(part);
    expect(rig.handed.map(({ text }) => text)).toEqual(["Hello."]);
    expect(await rig.deliveries.read(part.id)).toMatchObject({ state: "accepted" });
  });

  it("is not sent at all when it stands alone and its proposal is gone", async () => {
    const part = await noticePart();
    const alone = {
      ...part,
      text: part.text.slice(part.notice?.from),
      notice: { proposal: "p-1", expiresAt: rig.clock, from: 0 },
    };
    await rig.send(alone);
    expect(rig.handed).toEqual([]);
    expect(await rig.deliveries.read(part.id)).toMatchObject({ state: "failed", code: "lapsed" });
  });

  it("counts as not delivered when its job is given up", async () => {
    const part = await noticePart();
    await rig.deliveries.apply(part.id, { type: "queued", part, at: rig.clock });
    await rig.sender.dead(part, "stalled");
    expect(await rig.deliveries.read(part.id)).toMatchObject({ state: "failed", code: "gave_up" });
  });
});
