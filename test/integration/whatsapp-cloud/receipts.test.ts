import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Person } from "../../fakes/whatsapp-graph/index.js";
import { until } from "../../fixtures/telegram.js";
import { type CloudProcess, type CloudRig, createCloudRig } from "../../fixtures/whatsapp-cloud.js";

describe("WhatsApp Cloud API: what Meta reports of a message", () => {
  let rig: CloudRig;
  let one: CloudProcess;
  let ana: Person;
  beforeEach(async () => {
    rig = await createCloudRig();
    one = await rig.open({ groups: "always" });
    ana = rig.number.person("Ana");
  });
  afterEach(() => rig.close());

  const send = async (chat = ana.phone ?? "", sender = chat, group = false): Promise<string> => {
    const result = await one.adapter.send({ chat, sender, group, text: "hola" });
    if (result.status !== "accepted") throw new Error(JSON.stringify(result));
    return result.ref;
  };
  const settled = () => until(() => rig.app.pending() === 0);
  const levels = () => one.host.receipts.map(({ ref, level }) => [ref, level]);

  it("is handed on with Meta's time and ours, in whatever order it comes", async () => {
    const ref = await send();
    rig.number.status(ref, "read", {}, 1_750_000_009_000);
    rig.number.status(ref, "sent", {}, 1_750_000_001_000);
    rig.number.status(ref, "delivered", {}, 1_750_000_005_000);
    await settled();
    expect(one.host.receipts).toMatchObject([
      { ref, level: "read", at: 1_750_000_009_000 },
      { ref, level: "accepted", at: 1_750_000_001_000 },
      { ref, level: "delivered", at: 1_750_000_005_000 },
    ]);
    for (const { receivedAt } of one.host.receipts) expect(receivedAt).toBeGreaterThan(1_750_000_009_000);
  });

  it("may come before the message has a name here", async () => {
    rig.number.reports = { statuses: ["sent", "delivered"], beforeAnswer: true };
    const sending = send();
    await until(() => one.host.receipts.length === 2);
    const ref = await sending;
    expect(levels()).toEqual([
      [ref, "accepted"],
      [ref, "delivered"],
    ]);
  });

  it("is a failure that an operator understands", async () => {
    const ref = await send();
    const details = `Re-engagement message to ${ana.phone}`;
    rig.number.status(ref, "failed", {
      errors: [{ code: 131047, title: "Re-engagement message", error_data: { details } }],
    });
    rig.number.status("wamid.2", "failed", { errors: [{ code: 4711, message: details }] });
    rig.number.status("wamid.3", "failed");
    rig.number.status("wamid.4", "failed", { errors: "none" });
    await settled();
    expect(one.host.receipts).toMatchObject([
      { ref, level: "failed", code: "window_closed", reason: expect.stringMatching(/24 hours/) },
      { level: "failed", code: "meta_4711", reason: expect.stringMatching(/4711/) },
      { level: "failed", code: "failed" },
      { level: "failed", code: "failed" },
    ]);
    expect(JSON.stringify(one.host.receipts)).not.toContain(ana.phone);
  });

  it("is nothing where it is no level: what it cost, or a word that is not known", async () => {
    const ref = await send();
    rig.number.status(ref, "delivered", {
      pricing: { billable: true, pricing_model: "PMP", type: "regular", category: "service" },
    });
    rig.number.status(ref, "teleported");
    rig.number.status(ref, "warning");
    rig.number.status(ref, "constructor");
    await settled();
    expect(levels()).toEqual([[ref, "delivered"]]);
    expect(one.host.counts).toEqual(["unknown_status", "unknown_status", "unknown_status"]);
  });

  it("is read where a recording was played", async () => {
    rig.number.status("wamid.V", "played");
    await settled();
    expect(levels()).toEqual([["wamid.V", "read"]]);
  });

  describe("in a group", () => {
    it("says that it arrived only when the one person has it whom it was meant for", async () => {
      const group = rig.number.group();
      const beto = rig.number.person("Beto");
      rig.number.types(ana, "¿cuánto debo?", {}, { group });
      await until(() => one.host.received.length === 1);
      const ref = await send(group, ana.phone ?? "", true);
      rig.number.status(ref, "sent");
      rig.number.status(ref, "delivered", { recipient_participant_id: beto.phone });
      rig.number.status(ref, "read", { recipient_participant_user_id: beto.userId });
      rig.number.status(ref, "delivered");
      await settled();
      expect(levels()).toEqual([[ref, "accepted"]]);
      rig.number.status(ref, "delivered", { recipient_participant_user_id: ana.userId });
      rig.number.status(ref, "read", { recipient_participant_id: ana.phone });
      await settled();
      expect(levels()).toEqual([
        [ref, "accepted"],
        [ref, "delivered"],
        [ref, "read"],
      ]);
    });

    it("is nothing for a message whose addressee is not told", async () => {
      rig.number.status("wamid.G", "delivered", { recipient_type: "group", recipient_participant_id: ana.phone });
      await settled();
      expect(levels()).toEqual([]);
      expect(one.host.counts).toEqual(["group_status"]);
    });

    it("fails for all when it fails for the group, and for nobody else when it fails for somebody else", async () => {
      const group = rig.number.group();
      const beto = rig.number.person("Beto");
      rig.number.types(ana, "hola", {}, { group });
      await until(() => one.host.received.length === 1);
      const ref = await send(group, ana.phone ?? "", true);
      rig.number.status(ref, "failed", { recipient_participant_id: beto.phone, errors: [{ code: 131026 }] });
      await settled();
      expect(levels()).toEqual([]);
      rig.number.status(ref, "failed", { errors: [{ code: 131026 }] });
      await settled();
      expect(levels()).toEqual([[ref, "failed"]]);
    });
  });
});
