import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTranscriber } from "../../../src/agents/models/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { type FakeTranscription, startFakeTranscription } from "../../fakes/transcription/index.js";

const note = { bytes: new TextEncoder().encode("OggS…"), mime: "audio/ogg; codecs=opus" };
const key = "key-of-the-endpoint";

describe("what is said in a recording", () => {
  let endpoint: FakeTranscription;
  beforeEach(async () => {
    endpoint = await startFakeTranscription();
  });
  afterEach(() => endpoint.stop());

  const transcriber = (more: { language?: string; timeoutMs?: number } = {}) =>
    createTranscriber({ endpoint: endpoint.url, model: "whisper-1", apiKey: key, ...more });
  const never = new AbortController().signal;
  const failure = async (signal = never, timeoutMs = 5_000): Promise<DaleError> => {
    const error: unknown = await transcriber({ timeoutMs })(note, signal).catch((thrown: unknown) => thrown);
    if (!(error instanceof DaleError)) throw new Error(`no DaleError: ${String(error)}`);
    return error;
  };

  it("comes from the endpoint, which gets the bytes, a name that fits them, the model and the language", async () => {
    endpoint.hears({ text: "  hola, ¿cuánto debo?\n" });
    expect(await transcriber({ language: "es" })(note, never)).toBe("hola, ¿cuánto debo?");
    expect(endpoint.heard).toEqual([
      {
        authorization: `Bearer ${key}`,
        model: "whisper-1",
        language: "es",
        filename: "voice.ogg",
        mime: "audio/ogg",
        bytes: note.bytes,
      },
    ]);
  });

  it("leaves it to the model to find the language out, and names the file as it was named", async () => {
    await transcriber()({ ...note, mime: "audio/mp4", filename: "memo.m4a" }, never);
    await transcriber()({ bytes: note.bytes }, never);
    expect(endpoint.heard.map(({ filename, language }) => [filename, language])).toEqual([
      ["memo.m4a", undefined],
      ["voice.ogg", undefined],
    ]);
  });

  it("is an error where nothing is said in it", async () => {
    endpoint.hears({ text: " " });
    expect(await failure()).toMatchObject({ code: "model_failed" });
  });

  it.each([
    ["500", { fault: "status", status: 500 }, "model_failed"],
    ["429", { fault: "status", status: 429 }, "model_failed"],
    ["401", { fault: "status", status: 401 }, "model_refused"],
    ["400", { fault: "status", status: 400 }, "model_refused"],
    ["no JSON", { fault: "not_json" }, "model_failed"],
    ["a reset connection", { fault: "reset" }, "model_failed"],
  ] as const)("is an error when the endpoint answers with %s, and names no key", async (_, hearing, code) => {
    endpoint.hears(hearing);
    const error = await failure();
    expect(error.code).toBe(code);
    expect(JSON.stringify([error.message, error])).not.toContain(key);
  });

  it("is not waited for for ever", async () => {
    endpoint.hears({ fault: "hang" });
    expect(await failure(never, 100)).toMatchObject({ code: "model_failed" });
  });

  it("is not waited for when the turn is stopped", async () => {
    endpoint.hears({ fault: "hang" });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    expect(await failure(stop.signal)).toMatchObject({ code: "turn_aborted" });
  });
});
