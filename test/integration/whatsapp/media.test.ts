import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Attachment } from "../../../src/channels/index.js";
import type { Contact } from "../../fakes/whatsapp-web/index.js";
import { createWhatsappRig, until, type WhatsappProcess, type WhatsappRig } from "../../fixtures/whatsapp.js";

describe("files", () => {
  let rig: WhatsappRig;
  let process: WhatsappProcess;
  let ana: Contact;
  const bytes = new TextEncoder().encode("the bytes of a picture, ".repeat(100));

  beforeAll(async () => {
    rig = await createWhatsappRig();
    process = await rig.opened();
  });
  afterAll(() => rig.close());
  beforeEach(() => {
    ana = rig.web.contact("Ana");
    process.host.received.length = 0;
  });

  async function picture(): Promise<Attachment> {
    const file = await rig.web.upload(bytes, "image");
    await ana.writes({ imageMessage: { ...file, mimetype: "image/jpeg", caption: "look" } });
    await until(() => process.host.received.length > 0);
    const [attachment] = process.host.received[0]?.attachments ?? [];
    if (!attachment) throw new Error("no attachment");
    return attachment;
  }
  const unavailable = (message: RegExp) =>
    expect.objectContaining({ code: "attachment_unavailable", message: expect.stringMatching(message) });

  it("are told of, and fetched only when somebody asks for them, in any process", async () => {
    const attachment = await picture();
    expect(attachment).toMatchObject({ kind: "image", mime: "image/jpeg", size: bytes.byteLength, caption: "look" });
    expect(rig.web.media.fetched).toEqual([]);
    const elsewhere = rig.process();
    expect(await elsewhere.adapter.fetchAttachment(attachment, 10_000)).toEqual(Buffer.from(bytes));
    expect(rig.web.media.fetched).toHaveLength(1);
  });

  it("that are too large are not fetched, and not fetched to their end where they lie about it", async () => {
    const attachment = await picture();
    const fetched = rig.web.media.fetched.length;
    await expect(process.adapter.fetchAttachment(attachment, 100)).rejects.toEqual(unavailable(/larger/));
    expect(rig.web.media.fetched).toHaveLength(fetched);
    const { size: _, ...silent } = attachment;
    await expect(process.adapter.fetchAttachment(silent, 100)).rejects.toEqual(unavailable(/larger/));
    await expect(process.adapter.fetchAttachment({ ...attachment, size: 1 }, 100)).rejects.toEqual(
      unavailable(/larger/),
    );
  });

  it("that are damaged are refused", async () => {
    const attachment = await picture();
    rig.web.media.damage();
    await expect(process.adapter.fetchAttachment(attachment, 10_000)).rejects.toEqual(unavailable(/damaged/));
  });

  it("that are not what their message said are refused", async () => {
    const attachment = await picture();
    const ref = JSON.parse(attachment.ref ?? "{}") as Record<string, unknown>;
    const lying = { ...attachment, ref: JSON.stringify({ ...ref, sha256: Buffer.alloc(32).toString("base64") }) };
    await expect(process.adapter.fetchAttachment(lying, 10_000)).rejects.toEqual(unavailable(/damaged/));
  });

  it("that are gone are gone", async () => {
    const attachment = await picture();
    rig.web.media.forget();
    await expect(process.adapter.fetchAttachment(attachment, 10_000)).rejects.toEqual(unavailable(/gone/));
  });

  it("come from WhatsApp's host only, whatever a message says", async () => {
    const attachment = await picture();
    const ref = JSON.parse(attachment.ref ?? "{}") as Record<string, unknown>;
    const fetched = rig.web.media.fetched.length;
    for (const path of ["//evil.example/x", "http://169.254.169.254/", "/\\evil.example/x", "x", "/a b"]) {
      const forged = { ...attachment, ref: JSON.stringify({ ...ref, path }) };
      await expect(process.adapter.fetchAttachment(forged, 10_000)).rejects.toEqual(unavailable(/no file|host/));
    }
    expect(rig.web.media.fetched).toHaveLength(fetched);
  });

  it("say when the host cannot be reached that it may work later", async () => {
    const attachment = await picture();
    const far = rig.process({ socketUrl: "ws://127.0.0.1:9/ws/chat" });
    await expect(far.adapter.fetchAttachment(attachment, 10_000)).rejects.toEqual(
      expect.objectContaining({ code: "channel_failed", retryable: true }),
    );
  });
});
