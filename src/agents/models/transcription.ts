import { z } from "zod";
import { DaleError } from "../../errors/index.js";
import { boundedFetch } from "./bounded-fetch.js";

export interface TranscriptionOptions {
  /** OpenAI-compatible: `/audio/transcriptions` is asked below it. Without a slash at the end. */
  readonly endpoint: string;
  readonly model: string;
  readonly apiKey?: string;
  /** Of what is spoken, e.g. `es`. Default: the model finds out. */
  readonly language?: string;
  /** How long it may take, ms. Default 60,000. */
  readonly timeoutMs?: number;
  /** Default: the platform's own. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface SpokenAudio {
  readonly bytes: Uint8Array;
  readonly mime?: string;
  readonly filename?: string;
}

/**
 * What is said in a recording, without blanks at its ends.
 * @throws DaleError `model_failed` or `model_refused`, also where nothing is said in it; `turn_aborted` when the signal
 * aborted. None of them carries the recording, its words or a key.
 */
export type Transcribe = (audio: SpokenAudio, signal: AbortSignal) => Promise<string>;

const maxAnswerBytes = 1024 * 1024;
const answer = z.object({ text: z.string() });

/** Endpoints go by the file's name. */
const endings: Readonly<Record<string, string>> = {
  "audio/ogg": "ogg",
  "audio/opus": "ogg",
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
  "audio/mp4": "m4a",
  "audio/m4a": "m4a",
  "audio/x-m4a": "m4a",
  "audio/aac": "m4a",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/webm": "webm",
  "audio/flac": "flac",
  "video/mp4": "mp4",
};

export function createTranscriber(options: TranscriptionOptions): Transcribe {
  const fetch = boundedFetch(options.fetch ?? globalThis.fetch, maxAnswerBytes);
  const timeoutMs = options.timeoutMs ?? 60_000;

  async function ask(audio: SpokenAudio, signal: AbortSignal): Promise<string> {
    const type = audio.mime?.split(";", 1)[0]?.trim().toLowerCase() ?? "audio/ogg";
    const form = new FormData();
    const name = audio.filename ?? `voice.${endings[type] ?? "ogg"}`;
    form.set("file", new Blob([new Uint8Array(audio.bytes)], { type }), name);
    form.set("model", options.model);
    form.set("response_format", "json");
    if (options.language !== undefined) form.set("language", options.language);
    const response = await fetch(`${options.endpoint}/audio/transcriptions`, {
      method: "POST",
      ...(options.apiKey === undefined ? {} : { headers: { authorization: `Bearer ${options.apiKey}` } }),
      body: form,
      signal,
    });
    if (response.status !== 200) {
      const refused = response.status < 500 && response.status !== 408 && response.status !== 429;
      throw new DaleError(
        refused ? "model_refused" : "model_failed",
        `The transcription endpoint answered ${response.status}.`,
      );
    }
    const read = answer.safeParse(await response.json().catch(() => undefined));
    if (!read.success) throw new DaleError("model_failed", "The transcription endpoint's answer has no text.");
    const text = read.data.text.trim();
    if (text === "") throw new DaleError("model_failed", "Nothing is said in the recording.", { retryable: false });
    return text;
  }

  return async (audio, signal) => {
    const late = AbortSignal.timeout(timeoutMs);
    try {
      return await ask(audio, AbortSignal.any([signal, late]));
    } catch (error) {
      if (error instanceof DaleError) throw error;
      if (signal.aborted) throw new DaleError("turn_aborted", "The run was stopped while a recording was transcribed.");
      const reason = late.aborted ? `did not answer within ${timeoutMs / 1000} s` : "could not be reached";
      throw new DaleError("model_failed", `The transcription endpoint ${reason}.`);
    }
  };
}
