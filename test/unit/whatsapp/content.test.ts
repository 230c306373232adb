import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contentOf } from "../../../adapters/whatsapp/content.js";

describe("what a message says", () => {
  it("is typed only as a plain text, or in a chat whose messages disappear", () => {
    expect(contentOf({ conversation: "si" })).toMatchObject({ provenance: "typed", text: "si" });
    expect(contentOf({ ephemeralMessage: { message: { conversation: "si" } } })).toMatchObject({ provenance: "typed" });
  });

  it("is not typed when a picture comes with it", () => {
    expect(contentOf({ conversation: "si", imageMessage: { caption: "x" } })).toMatchObject({ provenance: "other" });
  });

  it("is an edit, however the edit is wrapped: never the new text", () => {
    const protocolMessage = { type: 14, key: { id: "A" }, editedMessage: { conversation: "si" } };
    const shapes = [
      { protocolMessage },
      { editedMessage: { message: { protocolMessage } } },
      { editedMessage: { message: { conversation: "si" } } },
      { ephemeralMessage: { message: { protocolMessage } } },
      { ephemeralMessage: { message: { editedMessage: { message: { conversation: "si" } } } } },
      { viewOnceMessage: { message: { editedMessage: { message: { conversation: "si" } } } } },
      { conversation: "si", protocolMessage },
      { conversation: "si", editedMessage: { message: { conversation: "si" } } },
      { secretEncryptedMessage: { targetMessageKey: { id: "A" } } },
    ];
    for (const shape of shapes) expect(contentOf(shape).kind).toBe("edited");
  });

  it("names what an edit or a deletion is of", () => {
    expect(contentOf({ protocolMessage: { type: 0, key: { id: "A" } } })).toEqual({ kind: "revoked", target: "A" });
    expect(contentOf({ protocolMessage: { type: 14, key: { id: "B" } } })).toEqual({ kind: "edited", target: "B" });
  });

  it("is an answer of a button in whatever wrapper", () => {
    const message = { buttonsResponseMessage: { selectedDisplayText: "si" } };
    expect(contentOf({ ephemeralMessage: { message } })).toEqual({ kind: "none", counted: "button" });
  });

  it("is what was passed on, when it is a voice note, and a transcript when it was spoken here", () => {
    expect(contentOf({ audioMessage: { ptt: true } })).toMatchObject({ provenance: "transcript" });
    const contextInfo = { isForwarded: true };
    expect(contentOf({ audioMessage: { ptt: true, contextInfo } })).toMatchObject({ provenance: "forwarded" });
  });

  it("is a place, a contact, a poll: things without a text", () => {
    const kinds = [
      [{ locationMessage: { degreesLatitude: 1 } }, "location"],
      [{ contactMessage: { displayName: "Beto" } }, "contact"],
      [{ pollCreationMessageV3: { name: "?" } }, "other"],
      [{ stickerMessage: { mimetype: "image/webp" } }, "sticker"],
    ] as const;
    for (const [message, kind] of kinds) {
      const content = contentOf(message);
      expect(content).toMatchObject({ kind: "message", text: "", provenance: "caption" });
      if (content.kind === "message") expect(content.attachments[0]?.kind).toBe(kind);
    }
  });

  it("ends somewhere, however deep it is wrapped", () => {
    let message: Parameters<typeof contentOf>[0] = { conversation: "si" };
    for (let depth = 0; depth < 50; depth++) message = { ephemeralMessage: { message } };
    expect(contentOf(message)).toEqual({ kind: "none", counted: "unsupported_message" });
  });

  it("is never typed when anything but a text, its links and its quotation is in it", () => {
    const wrappers = [
      "viewOnceMessage",
      "viewOnceMessageV2",
      "documentWithCaptionMessage",
      "editedMessage",
      "groupMentionedMessage",
    ] as const;
    const context = fc.constantFrom(
      { isForwarded: true },
      { forwardingScore: 1 },
      { conversionSource: "ad" },
      { quotedMessage: { conversation: "x" } },
    );
    fc.assert(
      fc.property(fc.constantFrom(...wrappers), fc.string({ minLength: 1 }), (wrapper, text) => {
        const content = contentOf({ [wrapper]: { message: { conversation: text } } });
        return content.kind !== "message" || content.provenance !== "typed";
      }),
    );
    fc.assert(
      fc.property(context, fc.string({ minLength: 1 }), (contextInfo, text) => {
        const content = contentOf({ extendedTextMessage: { text, contextInfo } });
        return content.kind === "message" && content.provenance !== "typed";
      }),
    );
  });
});
