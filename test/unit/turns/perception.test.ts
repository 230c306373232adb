import { describe, expect, it } from "vitest";
import type { Attachment, InboundMessage } from "../../../src/channels/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { createPerception } from "../../../src/turns/index.js";
import { silentLogger } from "../../fixtures/logger.js";

const never = new AbortController().signal;
const photo: Attachment = { kind: "image", mime: "image/jpeg", caption: "mi recibo", ref: "1" };
const note: Attachment = { kind: "voice", mime: "audio/ogg; codecs=opus", ref: "2" };

function message(text: string, ...attachments: readonly Attachment[]): InboundMessage {
  return {
    channel: "telegram",
    account: "bot",
    chat: "1",
    sender: "1",
    id: "9",
    group: false,
    text,
    provenance: "caption",
    sentAt: 0,
    receivedAt: 0,
    attachments,
  };
}

interface World {
  readonly bytes?: Uint8Array | Error;
  readonly words?: string | Error;
  readonly maxBytes?: number;
}

function perceptionOf({ bytes = new Uint8Array([1, 2]), words, maxBytes = 100 }: World) {
  const fetched: Attachment[] = [];
  const perception = createPerception({
    maxBytes,
    logger: silentLogger,
    async fetch(_, attachment) {
      fetched.push(attachment);
      if (bytes instanceof Error) throw bytes;
      return bytes;
    },
    ...(words === undefined
      ? {}
      : {
          async transcribe() {
            if (words instanceof Error) throw words;
            return words;
          },
        }),
  });
  return { perception, fetched };
}

describe("what a turn perceives of a message", () => {
  it("is its text, as it was written, and in words what came with it", async () => {
    const { perception, fetched } = perceptionOf({});
    const document: Attachment = {
      kind: "document",
      mime: "application/pdf",
      filename: "contrato.pdf",
      size: 1234,
      ref: "3",
    };
    const asked = message("  mirá  ", photo, document, { kind: "location" });
    expect(await perception.perceive(asked, false, never)).toEqual({
      query: "  mirá  \n[image, image/jpeg]\n[document, application/pdf, contrato.pdf, 1234 bytes]\n[location]",
      images: [],
    });
    expect(fetched).toEqual([]);
  });

  it("is a picture, too, for a model that sees", async () => {
    const { perception } = perceptionOf({});
    const { query, images } = await perception.perceive(message("mi recibo", photo), true, never);
    expect(images).toEqual([{ mime: "image/jpeg", data: new Uint8Array([1, 2]) }]);
    expect(query).toBe("mi recibo\n[image, image/jpeg]");
  });

  it("is a picture that was sent as a file, and no file of a kind that models do not take", async () => {
    const { perception, fetched } = perceptionOf({});
    const file: Attachment = { kind: "document", mime: "image/png", filename: "plano.png", ref: "4" };
    const raw: Attachment = { kind: "image", mime: "image/heic", ref: "5" };
    const { images } = await perception.perceive(message("", file, raw), true, never);
    expect(images.map(({ mime }) => mime)).toEqual(["image/png"]);
    expect(fetched).toEqual([file]);
  });

  it.each([
    ["cannot be had", { bytes: new DaleError("attachment_unavailable", "gone") }],
    ["fails in a way that nobody foresaw", { bytes: new Error("boom") }],
    ["is larger than is allowed", { maxBytes: 9 }],
    ["may not be fetched at all", { maxBytes: 0 }],
  ] as const)("says so when a picture %s", async (_, world) => {
    const { perception } = perceptionOf(world);
    const asked = message("¿qué dice?", { ...photo, size: 10 });
    const { query, images } = await perception.perceive(asked, true, never);
    expect(images).toEqual([]);
    expect(query).toBe("¿qué dice?\n[image, image/jpeg, 10 bytes, it could not be loaded]");
  });

  it("is what was said in a voice note", async () => {
    const { perception } = perceptionOf({ words: "¿cuánto debo?" });
    const { query } = await perception.perceive(message("", note), false, never);
    expect(query).toBe("¿cuánto debo?\n[voice, audio/ogg; codecs=opus, transcribed above]");
  });

  it("is no more than that there is a voice note, where nothing transcribes", async () => {
    const { perception, fetched } = perceptionOf({});
    expect((await perception.perceive(message("", note), true, never)).query).toBe("[voice, audio/ogg; codecs=opus]");
    expect(fetched).toEqual([]);
  });

  it("listens to voice notes, and to no music", async () => {
    const { perception, fetched } = perceptionOf({ words: "la la la" });
    const song: Attachment = { kind: "audio", mime: "audio/mpeg", filename: "tango.mp3", ref: "6" };
    expect((await perception.perceive(message("", song), false, never)).query).toBe("[audio, audio/mpeg, tango.mp3]");
    expect(fetched).toEqual([]);
  });

  it.each([
    ["the endpoint fails", { words: new DaleError("model_failed", "The transcription endpoint answered 500.") }],
    ["its bytes cannot be had", { words: "", bytes: new DaleError("channel_failed", "away") }],
    ["it is larger than is allowed", { words: "hola", maxBytes: 5 }],
  ] as const)("says so when a voice note could not be transcribed: %s", async (_, world) => {
    const { perception } = perceptionOf(world);
    const { query } = await perception.perceive(message("", { ...note, size: 6 }), false, never);
    expect(query).toBe("[voice, audio/ogg; codecs=opus, 6 bytes, it could not be transcribed]");
  });

  it("stops when the turn is stopped", async () => {
    const stop = new AbortController();
    const { perception } = perceptionOf({ bytes: new Error("aborted") });
    stop.abort();
    await expect(perception.perceive(message("", photo), true, stop.signal)).rejects.toThrow();
  });
});
