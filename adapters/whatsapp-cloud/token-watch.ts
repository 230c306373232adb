import { setTimeout as sleep } from "node:timers/promises";
import type { ChannelStatus } from "../../src/channels/index.js";
import { tokenRefused, tokenTroubleOf } from "./fault-words.js";
import type { GraphApi } from "./graph-api.js";
import type { WhatsappCloudTiming } from "./options.js";

export interface TokenWatchOptions {
  readonly api: GraphApi;
  readonly phoneNumberId: string;
  readonly timing: WhatsappCloudTiming;
  readonly trouble: (reason: string | undefined) => void;
  readonly status: () => ChannelStatus;
}

/**
 * Asks now and then whether the access token is good for the number, so that the operator hears of it before a person
 * waits for an answer, and in the process that receives even where another one sends. Until the signal aborts.
 */
export async function watchToken(options: TokenWatchOptions, stop: AbortSignal): Promise<void> {
  const { api, phoneNumberId, timing, trouble, status } = options;
  while (!stop.aborted) {
    const attempt = await api.get(`${phoneNumberId}?fields=id`, stop);
    if (stop.aborted) return;
    if (attempt.ok) {
      if (status().reason === tokenRefused) trouble(undefined);
    } else {
      const reason = tokenTroubleOf(attempt.fault);
      // Anything else says nothing about the token: one that may only send may not look at the number.
      if (reason !== undefined) trouble(reason);
    }
    const pause = status().state === "open" ? timing.probe : timing.trouble;
    await sleep(pause, undefined, { signal: stop, ref: false }).catch(() => undefined);
  }
}
