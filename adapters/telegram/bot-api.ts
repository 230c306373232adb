import { Api, GrammyError, HttpError } from "grammy";
import { createTransport, TransportError } from "./transport.js";

/** Why a call of the Bot API came to nothing. */
export type Fault =
  /** Telegram said no. */
  | {
      readonly kind: "refused";
      /** 400, 401, 403, 404, 409, 429, 5xx … */
      readonly code: number;
      /** Telegram's words, without the token. */
      readonly description: string;
      readonly retryAfterMs?: number;
      /** The supergroup that the chat has become. */
      readonly movedTo?: string;
    }
  /** There was no answer, or nonsense. `left`: Telegram may have done it all the same. */
  | { readonly kind: "lost"; readonly code: string; readonly left: boolean };

export type Attempt<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly fault: Fault };

export type RawApi = Api["raw"];

/** grammY's types name the signal of a polyfill; what it uses of it, every AbortSignal has. */
export type CallSignal = NonNullable<Parameters<RawApi["getMe"]>[0]>;

export interface BotApi {
  /** The bot's own user id: the first half of its token. */
  readonly botId: number;
  /** Makes one call, once. Never throws. */
  attempt<Result>(
    call: (raw: RawApi, signal: CallSignal) => Promise<Result>,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Attempt<Result>>;
  /** Bytes of a file that getFile named. */
  download(path: string, maxBytes: number, timeoutMs: number, signal?: AbortSignal): Promise<Attempt<Uint8Array>>;
}

/** Largest answer of a method: 100 updates of long messages stay far below. */
const maxAnswerBytes = 16 * 1024 * 1024;

export function createBotApi(token: string, apiRoot: string): BotApi {
  const root = apiRoot.replace(/\/+$/, "");
  const transport = createTransport(root);
  const raw = new Api(token, {
    apiRoot: root,
    // Each call has its own, shorter limit. This one only must not be the library's 500 s.
    timeoutSeconds: 120,
    fetch: async (url: unknown, init?: { readonly body?: unknown; readonly signal?: AbortSignal }) => {
      const { status, body } = await transport.fetch(String(url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: String(init?.body),
        maxBytes: maxAnswerBytes,
        signal: init?.signal ?? new AbortController().signal,
      });
      const text = body.toString("utf8");
      if (!text.startsWith("{")) throw new TransportError(`http_${status}`, true);
      return new Response(text);
    },
  }).raw;

  async function limited<Result>(
    run: (signal: AbortSignal) => Promise<Result>,
    timeoutMs: number,
    outer?: AbortSignal,
  ): Promise<Attempt<Result>> {
    if (outer?.aborted) return { ok: false, fault: { kind: "lost", code: "aborted", left: false } };
    const controller = new AbortController();
    let late = false;
    const abort = () => controller.abort();
    const timer = setTimeout(() => {
      late = true;
      abort();
    }, timeoutMs);
    outer?.addEventListener("abort", abort);
    try {
      return { ok: true, result: await run(controller.signal) };
    } catch (error) {
      const fault = faultOf(error);
      return { ok: false, fault: late && fault.kind === "lost" ? { ...fault, code: "timeout" } : fault };
    } finally {
      clearTimeout(timer);
      outer?.removeEventListener("abort", abort);
    }
  }

  function faultOf(error: unknown): Fault {
    if (error instanceof GrammyError) {
      const { retry_after: retryAfter, migrate_to_chat_id: movedTo } = error.parameters;
      return {
        kind: "refused",
        code: error.error_code,
        description: error.description.replaceAll(token, "<token>"),
        ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter * 1000 }),
        ...(movedTo === undefined ? {} : { movedTo: String(movedTo) }),
      };
    }
    const cause = error instanceof HttpError ? error.error : error;
    if (cause instanceof TransportError) return { kind: "lost", code: cause.code.toLowerCase(), left: cause.left };
    return { kind: "lost", code: "bad_answer", left: true };
  }

  return {
    botId: Number(token.split(":", 1)[0]),
    attempt: (call, timeoutMs, signal) =>
      limited((inner) => call(raw, inner as unknown as CallSignal), timeoutMs, signal),
    download: (path, maxBytes, timeoutMs, signal) =>
      limited(
        async (inner) => {
          const url = `${root}/file/bot${token}/${path.split("/").map(encodeURIComponent).join("/")}`;
          const { status, body } = await transport.fetch(url, { method: "GET", maxBytes, signal: inner });
          if (status !== 200) throw new TransportError(`http_${status}`, true);
          return new Uint8Array(body);
        },
        timeoutMs,
        signal,
      ),
  };
}
