import type { SendResult } from "../../src/channels/index.js";
import type { Fault } from "./bot-api.js";

/** Words of Telegram → our code and what an operator should know. The first that fits counts. */
const finalRefusals: readonly (readonly [code: number, words: RegExp, name: string, reason: string])[] = [
  [403, /blocked/i, "blocked", "The person has blocked the bot."],
  [403, /deactivated/i, "deactivated", "The person's Telegram account no longer exists."],
  [403, /kicked|not a member/i, "kicked", "The bot is no longer a member of that group."],
  [403, /initiate|can't send messages to bots/i, "not_started", "The person has not started a chat with the bot."],
  [403, /./, "forbidden", "Telegram does not let the bot write to that chat."],
  [400, /chat not found|peer_id_invalid|user not found/i, "chat_not_found", "Telegram knows no such chat."],
  [400, /too long/i, "too_long", "The text is longer than Telegram allows."],
  [400, /text is empty|text must be non-empty/i, "empty_text", "The text has nothing in it that can be seen."],
  [400, /rights|restricted|CHAT_WRITE_FORBIDDEN/i, "no_rights", "The bot may not write in that group."],
  [400, /topic_closed|topic_deleted|thread not found/i, "topic_closed", "That topic of the group is closed."],
];

/** What a send came to, when it was not accepted. */
export function resultOf(fault: Fault): Exclude<SendResult, { status: "accepted" }> {
  if (fault.kind === "lost") {
    return fault.left
      ? { status: "unknown", code: fault.code, reason: "Telegram may have sent it: its answer never came." }
      : { status: "retry", code: fault.code, reason: "Telegram cannot be reached." };
  }
  const { code, description } = fault;
  if (code === 429) {
    const afterMs = fault.retryAfterMs ?? 1_000;
    return { status: "retry", code: "rate_limited", reason: "Telegram asks to send more slowly.", afterMs };
  }
  // Telegram's own failure says nothing about how far it came.
  if (code >= 500) {
    return { status: "unknown", code: "server_error", reason: `Telegram failed with ${code}, and may have sent it.` };
  }
  // A token can be put right, and then the message can still go out.
  if (code === 401 || code === 404) {
    return { status: "retry", code: "unauthorized", reason: tokenRefused, afterMs: 30_000 };
  }
  for (const [number, words, name, reason] of finalRefusals) {
    if (number === code && words.test(description)) return { status: "failed", code: name, reason };
  }
  return { status: "failed", code: "rejected", reason: `Telegram refused it: ${description.slice(0, 120)}` };
}

const tokenRefused = "Telegram refuses the bot's token: it is wrong, or was revoked.";

/** Why nothing is received, in words for an operator. */
export function outageOf(fault: Fault): string {
  if (fault.kind === "lost") return `Telegram cannot be reached (${fault.code}).`;
  if (fault.code === 401 || fault.code === 404) return tokenRefused;
  if (fault.code === 409) {
    return isWebhookSet(fault)
      ? "A webhook is set for this bot, so that polling gets nothing. Delete it, or use mode: webhook."
      : "Another program receives with this bot's token. Stop it, or use a bot of your own.";
  }
  if (fault.code === 429) return "Telegram asks to call it less often.";
  return `Telegram answers with error ${fault.code}.`;
}

export function isWebhookSet(fault: Fault): boolean {
  return fault.kind === "refused" && fault.code === 409 && /webhook/i.test(fault.description);
}
