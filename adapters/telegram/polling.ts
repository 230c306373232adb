import type { ChannelHost, ChannelState, Lease } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import type { BotApi, Fault } from "./bot-api.js";
import { isWebhookSet, outageOf } from "./fault-words.js";
import type { TelegramTiming } from "./options.js";
import { backoff, pause } from "./pause.js";
import type { TakeUpdate } from "./receiving.js";
import { allowedUpdates } from "./update.js";

export interface PollingOptions {
  readonly account: string;
  readonly api: BotApi;
  readonly host: ChannelHost;
  readonly take: TakeUpdate;
  readonly timing: TelegramTiming;
  readonly replaceWebhook: boolean;
  readonly tell: (state: ChannelState, reason?: string) => void;
}

/**
 * Receives by getUpdates until the signal aborts: one process at a time, one update after the other. The offset, which
 * acknowledges, moves past an update only when it has been taken; grammY's own `bot.start()` acknowledges updates whose
 * handler failed or still runs, and removes the bot's webhook.
 */
export async function poll(options: PollingOptions, stop: AbortSignal): Promise<void> {
  const { host, timing, tell } = options;
  for (let failures = 0; !stop.aborted; ) {
    const lease = await host.store.acquireLease(timing.lease).catch(() => "unavailable" as const);
    if (lease === "unavailable") {
      tell("reconnecting", storeAway);
      await pause(backoff(timing.backoff, ++failures), stop);
      continue;
    }
    failures = 0;
    if (!lease) {
      tell("reconnecting", "Another process receives for this bot; this one stands by.");
      await pause(timing.standby, stop);
      continue;
    }
    try {
      await pollWith(lease, options, stop);
    } finally {
      await lease.release().catch(() => undefined);
    }
  }
}

const storeAway = "The store cannot be reached: messages wait at Telegram.";

async function pollWith(lease: Lease, options: PollingOptions, stop: AbortSignal): Promise<void> {
  const { account, api, host, take, timing, tell } = options;
  const ended = new AbortController();
  const end = () => ended.abort();
  stop.addEventListener("abort", end);
  lease.lost.addEventListener("abort", end);
  if (stop.aborted || lease.lost.aborted) end();

  let offset = 0;
  let failures = 0;
  // The first poll, and the first after a failure, is answered at once: so it is known that polling works.
  let waitSeconds = 0;

  const troubled = async (reason: string, afterMs?: number) => {
    failures++;
    waitSeconds = 0;
    tell("reconnecting", reason);
    await pause(Math.max(afterMs ?? 0, backoff(timing.backoff, failures)), ended.signal);
  };
  /** Tries until the update is taken. False when polling ended before: then it is not acknowledged. */
  const taken = async (update: unknown): Promise<boolean> => {
    while (!ended.signal.aborted) {
      try {
        await take(update);
        if (failures > 0) tell("open");
        failures = 0;
        return true;
      } catch (error) {
        const code = error instanceof DaleError ? error.code : "unknown";
        host.logger.warn({ account, code }, "a message could not be taken over, and stays at Telegram");
        await troubled(code === "channel_failed" ? "Telegram cannot be asked for the bot's name." : storeAway);
      }
    }
    return false;
  };

  try {
    while (!ended.signal.aborted) {
      const attempt = await api.attempt(
        (raw, signal) => raw.getUpdates({ offset, timeout: waitSeconds, allowed_updates: allowedUpdates }, signal),
        waitSeconds * 1000 + timing.request,
        ended.signal,
      );
      if (ended.signal.aborted) break;
      if (!attempt.ok) {
        host.logger.warn({ account, ...codeOf(attempt.fault) }, "Telegram could not be polled");
        if (options.replaceWebhook && isWebhookSet(attempt.fault)) {
          await api.attempt((raw, signal) => raw.deleteWebhook({}, signal), timing.request, ended.signal);
        }
        await troubled(
          outageOf(attempt.fault),
          attempt.fault.kind === "refused" ? attempt.fault.retryAfterMs : undefined,
        );
        continue;
      }
      failures = 0;
      waitSeconds = Math.round(timing.poll / 1000);
      tell("open");
      for (const update of attempt.result) {
        if (!(await taken(update))) return;
        offset = update.update_id + 1;
      }
      // All before the offset is confirmed now. To insist on it would lose messages: after a week without updates the
      // next one's id is random, and may be smaller. https://core.telegram.org/bots/api#update
      if (attempt.result.length === 0) offset = 0;
    }
  } finally {
    stop.removeEventListener("abort", end);
    lease.lost.removeEventListener("abort", end);
  }
}

function codeOf(fault: Fault): { code: string | number } {
  return { code: fault.code };
}
