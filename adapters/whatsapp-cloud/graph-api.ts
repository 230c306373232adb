import { z } from "zod";
import { createTransport, type TransportAnswer, TransportError } from "./transport.js";

/** Why a call of the Graph API came to nothing. */
export type Fault =
  /** Meta said no, or that it failed. */
  | {
      readonly kind: "refused";
      /** HTTP. */
      readonly status: number;
      /** Meta's own; absent where the answer was not Meta's JSON. */
      readonly code?: number;
      readonly subcode?: number;
      /** Meta's words, without the token and without anything that may be a phone number. */
      readonly message?: string;
      readonly retryAfterMs?: number;
    }
  /** There was no answer, or nonsense. `left`: Meta may have done it all the same. */
  | { readonly kind: "lost"; readonly code: string; readonly left: boolean };

export type Attempt<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly fault: Fault };

export interface GraphApi {
  /** POST /<path>, once. Never throws. */
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Attempt<unknown>>;
  /** GET /<path>, once. Never throws. */
  get(path: string, signal?: AbortSignal): Promise<Attempt<unknown>>;
  /** The bytes at a URL that the Graph API named. Never throws. */
  download(url: string, maxBytes: number, signal?: AbortSignal): Promise<Attempt<Uint8Array>>;
}

export interface GraphApiOptions {
  /** With the version, without a slash at the end. */
  readonly url: string;
  readonly token: string;
  readonly timeoutMs: number;
}

/** Largest answer of a method. */
const maxAnswerBytes = 1024 * 1024;

const refusal = z.object({
  error: z.object({
    code: z.number().optional(),
    error_subcode: z.number().optional(),
    message: z.string().optional(),
    error_data: z.object({ details: z.string().optional() }).optional().catch(undefined),
  }),
});

export function createGraphApi({ url, token, timeoutMs }: GraphApiOptions): GraphApi {
  const transport = createTransport();
  const authorization = `Bearer ${token}`;

  async function limited<Result>(
    run: (signal: AbortSignal) => Promise<Attempt<Result>>,
    outer: AbortSignal | undefined,
  ): Promise<Attempt<Result>> {
    if (outer?.aborted) return lost("aborted", false);
    const controller = new AbortController();
    let late = false;
    const abort = () => controller.abort();
    const timer = setTimeout(() => {
      late = true;
      abort();
    }, timeoutMs);
    outer?.addEventListener("abort", abort);
    try {
      return await run(controller.signal);
    } catch (error) {
      if (error instanceof TransportError) return lost(late ? "timeout" : error.code.toLowerCase(), error.left);
      return lost("bad_answer", true);
    } finally {
      clearTimeout(timer);
      outer?.removeEventListener("abort", abort);
    }
  }

  function read(answer: TransportAnswer): Attempt<unknown> {
    const { status, body, retryAfterMs } = answer;
    const parsed = parse(body);
    if (status >= 200 && status < 300) {
      return parsed === undefined ? lost("bad_answer", true) : { ok: true, result: parsed };
    }
    return {
      ok: false,
      fault: { ...refusedWith(status, parsed), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    };
  }

  function refusedWith(status: number, body: unknown): Extract<Fault, { kind: "refused" }> {
    const given = refusal.safeParse(body);
    if (!given.success) return { kind: "refused", status };
    const { code, error_subcode: subcode, message, error_data: data } = given.data.error;
    const words = data?.details ?? message;
    return {
      kind: "refused",
      status,
      ...(code === undefined ? {} : { code }),
      ...(subcode === undefined ? {} : { subcode }),
      ...(words === undefined ? {} : { message: harmless(words) }),
    };
  }

  /** Meta's words may repeat what it was sent. */
  function harmless(words: string): string {
    return words
      .replaceAll(token, "<token>")
      .replace(/\d[\d ()+-]{4,}\d/g, "…")
      .slice(0, 160);
  }

  return {
    post: (path, body, signal) =>
      limited(
        async (inner) =>
          read(
            await transport.fetch(`${url}/${path}`, {
              method: "POST",
              headers: { authorization, "content-type": "application/json" },
              body: JSON.stringify(body),
              maxBytes: maxAnswerBytes,
              signal: inner,
            }),
          ),
        signal,
      ),
    get: (path, signal) =>
      limited(
        async (inner) =>
          read(
            await transport.fetch(`${url}/${path}`, {
              method: "GET",
              headers: { authorization },
              maxBytes: maxAnswerBytes,
              signal: inner,
            }),
          ),
        signal,
      ),
    download: (from, maxBytes, signal) =>
      limited(async (inner) => {
        const answer = await transport.fetch(from, {
          method: "GET",
          // Meta's host of media refuses requests that name no program.
          headers: { authorization, "user-agent": "dale" },
          maxBytes,
          signal: inner,
        });
        if (answer.status === 200) return { ok: true, result: new Uint8Array(answer.body) };
        return { ok: false, fault: refusedWith(answer.status, parse(answer.body)) };
      }, signal),
  };
}

function lost(code: string, left: boolean): { readonly ok: false; readonly fault: Fault } {
  return { ok: false, fault: { kind: "lost", code, left } };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
