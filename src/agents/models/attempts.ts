import { setTimeout as sleep } from "node:timers/promises";
import { DaleError } from "../../errors/index.js";
import type { ChatModel, ModelReply, ModelRequest } from "./chat-model.js";

/** How often and how long a model is tried. */
export interface AttemptLimits {
  /** Tries in all. Default 3. */
  readonly attempts?: number;
  /** After so long one try counts as failed, ms. Default 60,000. */
  readonly attemptTimeoutMs?: number;
  /** No try begins, and no wait ends, later than this after the first began, ms. Default 60,000. */
  readonly budgetMs?: number;
  /** The first wait between two tries, ms; it doubles with each. Default 250. */
  readonly backoffMs?: number;
}

export interface AttemptOptions extends AttemptLimits {
  now(): number;
  /** 0 ≤ x < 1, for jitter. */
  random(): number;
}

/**
 * Tries a model again where that may help: retryable failures, and its own time-out, within the budget. A wait that the
 * other side asked for (`retryAfterMs`) is kept, or the failure is handed on when it does not fit in the budget.
 */
export function withAttempts(model: ChatModel, options: AttemptOptions): ChatModel {
  const attempts = options.attempts ?? 3;
  const attemptTimeoutMs = options.attemptTimeoutMs ?? 60_000;
  const budgetMs = options.budgetMs ?? 60_000;
  const backoffMs = options.backoffMs ?? 250;

  async function generate(request: ModelRequest): Promise<ModelReply> {
    const deadline = options.now() + budgetMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await oneAttempt(model, request, attemptTimeoutMs);
      } catch (error) {
        if (request.signal.aborted) throw aborted(request.signal);
        if (!(error instanceof DaleError) || !error.retryable || attempt >= attempts) throw error;
        const wait = error.retryAfterMs ?? backoffMs * 2 ** (attempt - 1) * (0.5 + options.random() / 2);
        if (options.now() + wait >= deadline) throw error;
        await sleep(wait, undefined, { signal: request.signal }).catch(() => {
          throw aborted(request.signal);
        });
      }
    }
  }

  return { ...model, generate };
}

async function oneAttempt(model: ChatModel, request: ModelRequest, timeoutMs: number): Promise<ModelReply> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  try {
    return await model.generate({ ...request, signal: AbortSignal.any([request.signal, timeout.signal]) });
  } catch (error) {
    if (timeout.signal.aborted && !request.signal.aborted) {
      throw new DaleError("model_failed", `The model did not answer within ${timeoutMs / 1000} s.`);
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** What a run that was stopped throws: the reason that its signal was given, where that is an error of ours. */
export function aborted(signal: AbortSignal): DaleError {
  return signal.reason instanceof DaleError
    ? signal.reason
    : new DaleError("turn_aborted", "The run was stopped while it waited for the model.");
}
