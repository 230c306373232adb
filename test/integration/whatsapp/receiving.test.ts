import { proto } from "@whiskeysockets/baileys";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { InboundMessage } from "../../../src/channels/index.js";
import type { Contact } from "../../fakes/whatsapp-web/index.js";
import { createWhatsappRig, until, type WhatsappProcess, type WhatsappRig } from "../../fixtures/whatsapp.js";

let rig: WhatsappRig;
let process: WhatsappProcess;
let ana: Contact;

beforeAll(async () => {
  rig = await createWhatsappRig();
  process = await rig.opened();
});
afterAll(() => rig.close());
beforeEach(() => {
  ana = rig.web.contact("Ana");
  process.host.received.length = 0;
  process.host.counts.length = 0;
});

const received = () => process.host.received;
const counts = () => process.host.counts;

/** What came in up to a last message that says so. */
async function upToNow(from: Contact = ana): Promise<readonly InboundMessage[]> {
  await from.writes("and that was all");
  const done = () => received().some(({ text, sender }) => text === "and that was all" && sender === from.pn);
  await until(done, () => [received(), counts(), process.host.logs]);
  return received().filter(({ text }) => text !== "and that was all");
}
async function only(content: string | proto.IMessage): Promise<InboundMessage> {
  await ana.writes(content);
  await until(() => received().length > 0, counts);
  const [first] = received();
  if (!first) throw new Error("nothing came in");
  return first;
}

describe("a text", () => {
  it("in a chat whose messages disappear is typed all the same", async () => {
    const text = { extendedTextMessage: { text: "si", contextInfo: { expiration: 86_400 } } };
    expect(await only({ ephemeralMessage: { message: text } })).toMatchObject({ text: "si", provenance: "typed" });
  });

  it("with a link or a mention is typed", async () => {
    expect(await only({ extendedTextMessage: { text: "see https://example.com" } })).toMatchObject({
      text: "see https://example.com",
      provenance: "typed",
    });
  });

  it("that answers one of ours names it, and never has the quoted words in it", async () => {
    const contextInfo = {
      stanzaId: "3EB0NOTICE",
      participant: rig.web.owner.pn,
      quotedMessage: { conversation: "Delete everything? Answer SI" },
    };
    const got = await only({ extendedTextMessage: { text: "no", contextInfo } });
    expect(got).toMatchObject({ text: "no", provenance: "typed", quotes: "3EB0NOTICE" });
    expect(JSON.stringify(got)).not.toContain("Delete everything");
  });

  it("that answers something in another chat is no answer to anything here", async () => {
    const contextInfo = { stanzaId: "3EB0OTHER", remoteJid: "status@broadcast", quotedMessage: { conversation: "x" } };
    const got = await only({ extendedTextMessage: { text: "si", contextInfo } });
    expect(got.provenance).toBe("quoted_other");
    expect(got.quotes).toBeUndefined();
  });

  it("that a link or an advertisement had written is not typed", async () => {
    const contextInfo = { entryPointConversionSource: "click_to_chat_link" };
    expect((await only({ extendedTextMessage: { text: "si", contextInfo } })).provenance).toBe("other");
  });

  it("that was passed on is forwarded, whatever it is wrapped in", async () => {
    const text = { extendedTextMessage: { text: "si", contextInfo: { forwardingScore: 2 } } };
    expect((await only({ ephemeralMessage: { message: text } })).provenance).toBe("forwarded");
  });

  it("inside a wrapper for pictures is not typed", async () => {
    const message = { extendedTextMessage: { text: "si" } };
    expect((await only({ viewOnceMessageV2: { message } })).provenance).toBe("other");
  });

  it("of a stranger that says it was sent by our own phone is the stranger's", async () => {
    const got = await only({
      deviceSentMessage: { destinationJid: "1@s.whatsapp.net", message: { conversation: "si" } },
    });
    expect(got).toMatchObject({ sender: ana.pn, text: "si" });
  });

  it("tells when it was sent by WhatsApp's clock", async () => {
    await ana.writes("earlier", { at: 1_700_000_000 });
    await until(() => received().length > 0);
    expect(received()[0]).toMatchObject({ sentAt: 1_700_000_000_000 });
  });
});

describe("a caption", () => {
  it("is a caption, seen once or with a document", async () => {
    await ana.writes({ viewOnceMessageV2: { message: { imageMessage: { caption: "si" } } } });
    const documentMessage = { caption: "si", fileName: "a.pdf", mimetype: "application/pdf" };
    await ana.writes({ documentWithCaptionMessage: { message: { documentMessage } } });
    const got = await upToNow();
    expect(got.map(({ text, provenance, attachments }) => [text, provenance, attachments[0]?.kind])).toEqual([
      ["si", "caption", "image"],
      ["si", "caption", "document"],
    ]);
    expect(got[1]?.attachments[0]).toMatchObject({ filename: "a.pdf", mime: "application/pdf" });
  });
});

describe("what is no new message", () => {
  const none: readonly (readonly [string, proto.IMessage, string])[] = [
    ["a reaction", { reactionMessage: { key: { id: "X", fromMe: false }, text: "👍" } }, "reaction"],
    ["a vote", { pollUpdateMessage: { pollCreationMessageKey: { id: "P" } } }, "poll_vote"],
    ["a button", { buttonsResponseMessage: { selectedButtonId: "y", selectedDisplayText: "Si", type: 1 } }, "button"],
    ["a list's row", { listResponseMessage: { title: "Si", singleSelectReply: { selectedRowId: "y" } } }, "button"],
    ["a template's button", { templateButtonReplyMessage: { selectedId: "y", selectedDisplayText: "Si" } }, "button"],
    ["a flow's button", { interactiveResponseMessage: { body: { text: "Si" } } }, "button"],
    ["a pin", { pinInChatMessage: { key: { id: "X" }, type: 1 } }, "pin"],
    ["a setting", { protocolMessage: { type: 3, ephemeralExpiration: 86_400 } }, "service_message"],
    [
      "an edit",
      { protocolMessage: { type: 14, key: { id: "X" }, editedMessage: { conversation: "si" } } },
      "edited_message",
    ],
    [
      "an edit in a wrapper",
      {
        editedMessage: {
          message: { protocolMessage: { type: 14, key: { id: "X" }, editedMessage: { conversation: "si" } } },
        },
      },
      "edited_message",
    ],
    [
      "an edit that is encrypted once more",
      {
        secretEncryptedMessage: {
          targetMessageKey: { id: "X" },
          encPayload: new Uint8Array(8),
          encIv: new Uint8Array(12),
          secretEncType: 2,
        },
      },
      "edited_message",
    ],
    ["a deletion", { protocolMessage: { type: 0, key: { id: "X", fromMe: true } } }, "revoked_message"],
    ["a template of a business", { templateMessage: { hydratedTemplate: { hydratedContentText: "si" } } }, "from_bot"],
  ];
  it.each(none)("%s is counted, and handed on by nobody", async (_, message, counted) => {
    await ana.writes(message);
    expect(await upToNow()).toEqual([]);
    expect(counts()).toContain(counted);
  });

  it("is a status, a channel's post, or anything of our own", async () => {
    rig.web.plain("status@broadcast", "si", { participant: ana.pn });
    rig.web.plain("120363000000000009@newsletter", "si", { server_id: "9" });
    await rig.web.ownerWrites(ana, "si");
    expect(await upToNow()).toEqual([]);
    expect(counts()).toEqual(expect.arrayContaining(["status", "newsletter", "echo"]));
  });

  it("is what somebody claims that our phone had resent", async () => {
    const forged = proto.WebMessageInfo.encode({
      key: { remoteJid: ana.pn, fromMe: false, id: "FORGED" },
      message: { conversation: "si" },
    }).finish();
    const placeholderMessageResendResponse = { webMessageInfoBytes: forged };
    const peerDataOperationRequestResponseMessage = { peerDataOperationResult: [{ placeholderMessageResendResponse }] };
    await ana.writes({
      protocolMessage: {
        type: proto.Message.ProtocolMessage.Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
        peerDataOperationRequestResponseMessage,
      },
    });
    expect(await upToNow()).toEqual([]);
  });
});

describe("a message that is taken back or changed", () => {
  it("is told of, so that a yes that it was gives nothing any more", async () => {
    const id = await ana.writes("si");
    await until(() => received().length === 1);
    const key = { remoteJid: ana.pn, fromMe: true, id };
    await ana.writes({ protocolMessage: { type: 14, key, editedMessage: { conversation: "no" } } });
    await ana.writes({ protocolMessage: { type: 0, key } });
    await upToNow();
    const told = { chat: ana.pn, sender: ana.pn, id };
    expect(process.host.retracted).toEqual([told, told]);
  });
});

describe("a message that cannot be read", () => {
  it("uses up no id: the same message counts when it comes readable", async () => {
    await ana.writes("hola");
    await until(() => received().length === 1);
    await ana.writes("si", { id: "3ADAMAGED", damaged: true });
    await until(
      () => received().length === 2,
      () => [counts(), process.host.logs],
    );
    expect(counts()).toContain("undecryptable");
    expect(received()[1]).toMatchObject({ id: "3ADAMAGED", text: "si", provenance: "typed" });
  });
});

describe("a message that only the phone has", () => {
  it("is not read at first, and comes with its own time when the phone has sent it again", async () => {
    const attrs = {
      from: ana.pn,
      id: "3AONLYPHONE",
      t: String(Math.floor(Date.now() / 1000)),
      type: "text",
      notify: "Ana",
    };
    rig.web.stanza({ tag: "message", attrs, content: [{ tag: "unavailable", attrs: {} }] });
    await until(() => counts().includes("undecryptable"));
    expect(received()).toEqual([]);
    const webMessageInfoBytes = proto.WebMessageInfo.encode({
      key: { remoteJid: ana.pn, fromMe: false, id: "3AONLYPHONE" },
      message: { conversation: "from an advertisement" },
      messageTimestamp: 1_700_000_000,
    }).finish();
    const result = { placeholderMessageResendResponse: { webMessageInfoBytes } };
    const answer = { peerDataOperationResult: [result], stanzaId: "asked" };
    rig.web.plain(rig.web.owner.pn, {
      protocolMessage: {
        type: proto.Message.ProtocolMessage.Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
        peerDataOperationRequestResponseMessage: answer,
      },
    });
    await until(() => received().length === 1, counts);
    expect(received()[0]).toMatchObject({
      id: "3AONLYPHONE",
      sender: ana.pn,
      text: "from an advertisement",
      sentAt: 1_700_000_000_000,
    });
  });
});

describe("a message that nobody can take", () => {
  it("does not stop those after it", async () => {
    await rig.store.set(`person:${ana.pn}`, JSON.stringify({ version: 99 }));
    await ana.writes("from a newer version's friend");
    const beto = rig.web.contact("Beto");
    await beto.writes("and I?");
    await until(() => received().length === 1, counts);
    expect(received()[0]?.text).toBe("and I?");
    await until(() => counts().includes("not_handed_on"));
    expect(process.host.logs.at(-1)).toMatchObject({ level: "error", fields: { code: "store_version" } });
  });
});

describe("a message that comes twice", () => {
  it("is handed on under one id", async () => {
    await ana.writes("si", { id: "3ATWICE" });
    await until(() => received().length === 1);
    await rig.web.redeliver("encrypted again");
    await rig.web.redeliver("same");
    expect((await upToNow()).map(({ id }) => id)).toEqual(["3ATWICE"]);
    expect(process.host.duplicates).toBe(1);
  });
});

describe("many messages", () => {
  it("keep their order", async () => {
    const texts = Array.from({ length: 60 }, (_, n) => `message ${n}`);
    for (const text of texts) await ana.writes(text);
    await until(() => received().length === texts.length);
    expect(received().map(({ text }) => text)).toEqual(texts);
  });
});
