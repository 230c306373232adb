import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Person } from "../../fakes/whatsapp-graph/index.js";
import { until } from "../../fixtures/telegram.js";
import { type CloudProcess, type CloudRig, createCloudRig } from "../../fixtures/whatsapp-cloud.js";

describe("WhatsApp Cloud API: what counts as typed", () => {
  let rig: CloudRig;
  let one: CloudProcess;
  let ana: Person;
  beforeEach(async () => {
    rig = await createCloudRig();
    one = await rig.open();
    ana = rig.number.person("Ana");
  });
  afterEach(() => rig.close());

  const settled = () =>
    until(
      () => rig.app.pending() === 0,
      () => rig.app.pushes().map(({ status }) => status),
    );
  const only = async () => {
    await settled();
    expect(one.host.received).toHaveLength(1);
    const [first] = one.host.received;
    if (!first) throw new Error("nothing was received");
    return first;
  };

  it("is a plain text, exactly as it was written", async () => {
    const said = "  Sí, señor — 👩‍👩‍👧 cafe\u0301\n*no* _es_ ~formato~ `acá` \u202e";
    const id = rig.number.types(ana, said);
    expect(await only()).toEqual({
      channel: "whatsapp_cloud",
      account: "main",
      chat: ana.phone,
      sender: ana.phone,
      id,
      group: false,
      senderName: "Ana",
      text: said,
      provenance: "typed",
      sentAt: expect.any(Number),
      receivedAt: expect.any(Number),
      attachments: [],
    });
  });

  it("tells the time of the message in whole seconds of Meta's clock, and ours in milliseconds", async () => {
    rig.number.types(ana, "hola", {}, { at: 1_750_000_000_999 });
    const got = await only();
    expect(got.sentAt).toBe(1_750_000_000_000);
    expect(got.receivedAt).toBeGreaterThan(1_750_000_000_999);
  });

  it("names what it quotes, and stays typed: whether that is the notice is the gate's to know", async () => {
    rig.number.types(ana, "si", { context: { from: rig.number.display, id: "wamid.NOTICE" } });
    expect(await only()).toMatchObject({ quotes: "wamid.NOTICE", provenance: "typed" });
  });

  const notTyped: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ["passed on", { context: { forwarded: true } }, "forwarded"],
    ["passed on many times", { context: { frequently_forwarded: true } }, "forwarded"],
    ["begun from an advertisement", { referral: { source_type: "ad", source_id: "1", headline: "x" } }, "other"],
    [
      "about a product of the catalogue",
      { context: { referred_product: { catalog_id: "1", product_retailer_id: "2" } } },
      "other",
    ],
  ];
  it.each(notTyped)("is no text that was %s", async (_, more, provenance) => {
    rig.number.types(ana, "si", more);
    expect(await only()).toMatchObject({ text: "si", provenance });
  });

  it("is no flag that says nothing: a context without either is an ordinary message", async () => {
    rig.number.types(ana, "si", { context: { forwarded: false, frequently_forwarded: false } });
    expect(await only()).toMatchObject({ provenance: "typed" });
  });

  const media: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>, string])[] = [
    [
      "image",
      { id: "1", mime_type: "image/jpeg", sha256: "x", caption: "si" },
      { kind: "image", mime: "image/jpeg", caption: "si", ref: "1" },
      "caption",
    ],
    [
      "video",
      { id: "2", mime_type: "video/mp4", caption: "si" },
      { kind: "video", mime: "video/mp4", caption: "si", ref: "2" },
      "caption",
    ],
    [
      "document",
      { id: "3", mime_type: "application/pdf", filename: "contrato.pdf", caption: "si" },
      { kind: "document", mime: "application/pdf", filename: "contrato.pdf", caption: "si", ref: "3" },
      "caption",
    ],
    [
      "audio",
      { id: "4", mime_type: "audio/ogg; codecs=opus", voice: true },
      { kind: "voice", mime: "audio/ogg; codecs=opus", ref: "4" },
      "transcript",
    ],
    ["audio", { id: "5", mime_type: "audio/mpeg" }, { kind: "audio", mime: "audio/mpeg", ref: "5" }, "transcript"],
    [
      "sticker",
      { id: "6", mime_type: "image/webp", animated: false },
      { kind: "sticker", mime: "image/webp", ref: "6" },
      "caption",
    ],
    ["location", { latitude: -34.6, longitude: -58.4, name: "si" }, { kind: "location" }, "caption"],
    ["order", { catalog_id: "1", text: "si", product_items: [] }, { kind: "other" }, "caption"],
  ];
  it.each(media)("is no %s: it is handed on with what it holds", async (type, content, attachment, provenance) => {
    rig.number.message(ana, { type, [type]: content });
    const got = await only();
    expect(got).toMatchObject({ provenance, text: content.caption ?? "" });
    expect(got.attachments).toEqual([attachment]);
  });

  it("is no card of a contact", async () => {
    rig.number.message(ana, { type: "contacts", contacts: [{ name: { formatted_name: "si" } }] });
    expect(await only()).toMatchObject({ text: "", provenance: "caption", attachments: [{ kind: "contact" }] });
  });

  const noNews: readonly (readonly [string, { readonly type: string } & Record<string, unknown>, string])[] = [
    [
      "a pressed button",
      { type: "interactive", interactive: { type: "button_reply", button_reply: { id: "si", title: "si" } } },
      "button_reply",
    ],
    [
      "a chosen line of a list",
      { type: "interactive", interactive: { type: "list_reply", list_reply: { id: "si", title: "si" } } },
      "button_reply",
    ],
    [
      "a template's button",
      { type: "button", button: { payload: "si", text: "si" }, context: { id: "wamid.NOTICE" } },
      "button_reply",
    ],
    ["a reaction", { type: "reaction", reaction: { message_id: "wamid.NOTICE", emoji: "👍" } }, "reaction"],
    [
      "an edit",
      { type: "edit", edit: { original_message_id: "wamid.OLD", message: { type: "text", text: { body: "si" } } } },
      "edit",
    ],
    [
      "an edit that Meta does not hand over",
      { type: "unsupported", unsupported: { type: "edit" }, errors: [{ code: 131051 }] },
      "edit",
    ],
    [
      "what Meta cannot hand over",
      { type: "unsupported", errors: [{ code: 131051, title: "Message type unknown" }] },
      "unsupported_message",
    ],
    [
      "what is only on the business's phone",
      { type: "unsupported", errors: [{ code: 131060 }] },
      "unavailable_message",
    ],
    ["a deletion", { type: "revoke", revoke: { original_message_id: "wamid.OLD" } }, "revoke"],
    ["an opened chat", { type: "request_welcome" }, "request_welcome"],
    [
      "a system message",
      { type: "system", system: { body: "si", type: "customer_identity_changed" } },
      "system_message",
    ],
    ["a kind that Meta has yet to invent", { type: "hologram", text: { body: "si" } }, "unknown_message_type"],
  ];
  it.each(noNews)(
    "is not %s, which is no new message at all: it is counted, and kept to itself",
    async (_, fields, counted) => {
      rig.number.message(ana, fields);
      rig.number.types(ana, "y ahora");
      expect(await only()).toMatchObject({ text: "y ahora" });
      expect(one.host.counts).toEqual([counted]);
    },
  );

  it("is nothing that the operator's own phone says", async () => {
    const echo = {
      from: rig.number.display,
      to: ana.phone,
      id: "wamid.E",
      timestamp: "1",
      type: "text",
      text: { body: "si" },
    };
    const metadata = { display_phone_number: rig.number.display, phone_number_id: rig.number.id };
    rig.app.tells({ field: "smb_message_echoes", value: { metadata, message_echoes: [echo] } });
    rig.number.tells({ messages: [echo] });
    rig.number.types(ana, "y ahora");
    expect(await only()).toMatchObject({ text: "y ahora" });
    expect(one.host.counts).toEqual(["echo", "echo"]);
  });

  it("is nothing of nobody", async () => {
    rig.number.tells({ messages: [{ id: "wamid.N", timestamp: "1", type: "text", text: { body: "si" } }] });
    await settled();
    expect(one.host.received).toEqual([]);
    expect(one.host.counts).toEqual(["no_sender"]);
  });
});
