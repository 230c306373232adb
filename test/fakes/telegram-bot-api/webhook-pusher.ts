import { setTimeout as sleep } from "node:timers/promises";
import { lineOf, type Update } from "./objects.js";
import type { UpdateQueue } from "./update-queue.js";

export interface Webhook {
  readonly url: string;
  readonly secretToken?: string;
}

/** One push, as it went. */
export interface Push {
  readonly update: Update;
  /** 0: no answer. */
  readonly status: number;
}

export interface WebhookPusher {
  readonly pushes: readonly Push[];
  stop(): Promise<void>;
}

/**
 * Pushes a bot's updates to its webhook: each line in order, lines side by side. A 2xx answer confirms; anything else
 * is tried again, first at once, then after `unitMs`, doubling up to 60 units, or after `Retry-After` units.
 * @param unitMs what stands for one second
 */
export function createWebhookPusher(webhook: Webhook, queue: UpdateQueue, unitMs: number): WebhookPusher {
  const pushes: Push[] = [];
  const stopped = new AbortController();
  const busy = new Map<string, Promise<void>>();

  async function push(update: Update): Promise<{ status: number; retryAfter?: number }> {
    try {
      const response = await fetch(webhook.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(webhook.secretToken ? { "x-telegram-bot-api-secret-token": webhook.secretToken } : {}),
        },
        body: JSON.stringify(update),
        signal: AbortSignal.any([stopped.signal, AbortSignal.timeout(60_000)]),
      });
      await response.body?.cancel();
      const retryAfter = Number(response.headers.get("retry-after"));
      return { status: response.status, ...(retryAfter > 0 ? { retryAfter } : {}) };
    } catch {
      return { status: 0 };
    }
  }

  async function deliver(update: Update): Promise<void> {
    for (let tries = 0; !stopped.signal.aborted; tries++) {
      const { status, retryAfter } = await push(update);
      if (stopped.signal.aborted) return;
      pushes.push({ update, status });
      if (status >= 200 && status < 300) return queue.remove(update);
      const units = retryAfter ?? (tries === 0 ? 0 : Math.min(2 ** (tries - 1), 60));
      await sleep(units * unitMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  async function drain(line: string): Promise<void> {
    for (;;) {
      const next = queue.pending().find((update) => lineOf(update) === line);
      if (!next || stopped.signal.aborted) break;
      await deliver(next);
    }
    busy.delete(line);
  }

  const wake = () => {
    if (stopped.signal.aborted) return;
    for (const line of new Set(queue.pending().map(lineOf))) {
      if (!busy.has(line)) busy.set(line, drain(line));
    }
  };
  queue.onAdded(wake);
  wake();
  return {
    pushes,
    async stop() {
      stopped.abort();
      await Promise.all(busy.values());
    },
  };
}
