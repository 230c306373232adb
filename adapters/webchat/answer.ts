/** What a request that is refused is told. The page has words of its own for each; `message` is for other callers. */
export const refusals = {
  origin_refused: { status: 403, message: "Requests from other sites are refused." },
  no_session: { status: 401, message: "There is no session: POST to session first." },
  other_chat: { status: 409, message: "This page belongs to another chat than the cookie: load it again." },
  unsupported_type: { status: 415, message: "Send application/json." },
  body_too_large: { status: 413, message: "The body is larger than 64 KiB." },
  invalid_json: { status: 400, message: "The body is not JSON in UTF-8." },
  invalid_request: { status: 400, message: "The body does not have the fields that this request takes." },
  text_empty: { status: 400, message: "The text is empty." },
  text_too_long: { status: 413, message: "The text is longer than 16,000 characters." },
  text_invalid: { status: 400, message: "The text holds half of a surrogate pair: it is not valid Unicode." },
  too_old: { status: 409, message: "It waited for more than a day: type it anew." },
  too_many: { status: 429, message: "Too many at once: wait a moment." },
  store_unavailable: { status: 503, message: "Nothing can be taken over right now: try again." },
  stopped: { status: 503, message: "This chat is stopped." },
  not_found: { status: 404, message: "There is no such page." },
  method_not_allowed: { status: 405, message: "This address does not take that method." },
} as const satisfies Record<string, { readonly status: number; readonly message: string }>;

export type RefusalCode = keyof typeof refusals;

/** Thrown by what reads a request, answered by the adapter. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly retryAfterMs: number | undefined;

  constructor(code: RefusalCode, retryAfterMs?: number) {
    super(refusals[code].message);
    this.name = "Refusal";
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

const always = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
} as const;

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...always, "content-type": "application/json; charset=utf-8", "cache-control": "no-store", ...headers },
  });
}

export function refuse(refusal: Refusal): Response {
  const { status, message } = refusals[refusal.code];
  const seconds = refusal.retryAfterMs === undefined ? undefined : Math.ceil(refusal.retryAfterMs / 1000);
  return json(
    status,
    { error: refusal.code, message },
    seconds === undefined ? {} : { "retry-after": String(Math.max(1, seconds)) },
  );
}

/** What every other answer carries, whatever its kind. */
export function withSafeHeaders(headers: Readonly<Record<string, string>>): Headers {
  return new Headers({ ...always, ...headers });
}
