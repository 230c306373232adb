/** @import { Reply, Session, Unsent } from "./shapes.js" */

/** The server answers in two seconds at most; beyond this the line is dead. */
const answerWithinMs = 8_000;
/** A message that waited less in the browser is as good as just typed. */
const promptMs = 2_000;

/** @returns {Promise<Reply<Session>>} */
export function openSession() {
  return post("session", {});
}

/**
 * @param {string} chat the chat that this page shows
 * @param {Unsent} message
 * @returns {Promise<Reply<{ id: string }>>}
 */
export function postMessage(chat, { id, text, seen, typedAt }) {
  const waitedMs = Math.max(0, Math.round(Date.now() - typedAt));
  return post("messages", { id, text, seen, chat, ...(waitedMs > promptMs ? { waitedMs } : {}) });
}

/**
 * @param {"delivered" | "read"} level
 * @param {readonly string[]} ids
 * @returns {Promise<Reply<{ ids: string[] }>>}
 */
export function postReceipts(level, ids) {
  return post("receipts", { level, ids });
}

/**
 * @template T
 * @param {string} path
 * @param {object} body
 * @returns {Promise<Reply<T>>}
 */
async function post(path, body) {
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(answerWithinMs),
      keepalive: path === "receipts",
    });
    const answer = await response.json();
    if (response.ok) return { ok: true, body: answer };
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined;
    return { ok: false, code: typeof answer.error === "string" ? answer.error : "store_unavailable", retryAfterMs };
  } catch {
    return { ok: false, code: "offline", retryAfterMs: undefined };
  }
}

/** Errors after which the same request may succeed. @type {ReadonlySet<string>} */
export const passing = new Set(["offline", "store_unavailable", "stopped", "too_many"]);

/** Whether the person may try again what failed so. @param {string} code */
export function mayRetry(code) {
  return passing.has(code) || code === "unconfirmed";
}

/** Errors after which the page has to begin anew: the cookie is gone, or belongs to another chat. */
export const strange = new Set(["no_session", "other_chat"]);
