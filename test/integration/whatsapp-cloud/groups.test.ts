import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Person } from "../../fakes/whatsapp-graph/index.js";
import { until } from "../../fixtures/telegram.js";
import { type CloudProcess, type CloudRig, createCloudRig } from "../../fixtures/whatsapp-cloud.js";

describe("WhatsApp Cloud API: groups", () => {
  let rig: CloudRig;
  let ana: Person;
  let group: string;
  beforeEach(async () => {
    rig = await createCloudRig();
    ana = rig.number.person("Ana");
    group = rig.number.group();
  });
  afterEach(() => rig.close());

  const settled = () => until(() => rig.app.pending() === 0);
  const texts = (one: CloudProcess) => one.host.received.map(({ text }) => text);

  it("are chats in which each participant has a session of their own", async () => {
    const one = await rig.open({ groups: "always" });
    const beto = rig.number.person("Beto", { phone: null });
    rig.number.types(ana, "de Ana", {}, { group });
    rig.number.types(beto, "de Beto", {}, { group });
    rig.number.types(ana, "a solas");
    await until(() => one.host.received.length === 3);
    const of = (text: string) => one.host.received.find((message) => message.text === text);
    expect(of("de Ana")).toMatchObject({ chat: group, sender: ana.phone, group: true, senderName: "Ana" });
    expect(of("de Beto")).toMatchObject({ chat: group, sender: beto.userId, group: true });
    expect(of("a solas")).toMatchObject({ chat: ana.phone, sender: ana.phone, group: false });
  });

  it("are answered when somebody answers the number, or writes it with an @", async () => {
    const one = await rig.open({ groups: "mentioned" });
    const { display } = rig.number;
    rig.number.types(ana, "entre nosotros", {}, { group });
    rig.number.types(ana, "a otro", { context: { from: "5491100000000", id: "wamid.O" } }, { group });
    rig.number.types(ana, `@${display}9 no es el número`, {}, { group });
    rig.number.types(ana, "respuesta", { context: { from: display, id: "wamid.D" } }, { group });
    rig.number.types(ana, `@${display} ¿cuánto debo?`, {}, { group });
    rig.number.message(ana, { type: "image", image: { id: "1", caption: `@${display} mirá` } }, { group });
    rig.number.types(ana, "a solas, sin mención");
    await settled();
    expect(texts(one)).toEqual(["respuesta", `@${display} ¿cuánto debo?`, `@${display} mirá`, "a solas, sin mención"]);
    expect(one.host.counts).toEqual(["group_message", "group_message", "group_message"]);
  });

  it("are left alone where the account says so", async () => {
    const one = await rig.open({ groups: "never" });
    rig.number.types(ana, `@${rig.number.display} hola`, {}, { group });
    rig.number.types(ana, "a solas");
    await settled();
    expect(texts(one)).toEqual(["a solas"]);
  });

  it("are written to as groups, and it comes back with the receipts for whom it was meant", async () => {
    const one = await rig.open();
    await one.adapter.send({ chat: group, sender: ana.phone ?? "", group: true, text: "hola" });
    expect(rig.number.sent).toMatchObject([{ to: group, group: true, by: "to", opaque: ana.phone }]);
  });
});
