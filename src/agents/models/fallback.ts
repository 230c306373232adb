import { DaleError } from "../../errors/index.js";
import type { ChatModel, ModelReply, ModelRequest } from "./chat-model.js";
import type { ModelLogger } from "./create-model.js";

export interface FallbackOptions {
  readonly primary: ChatModel;
  readonly fallback: ChatModel;
  /** Whether a refusal of the primary (bad key, unknown model) is a reason too. Default false: it is a mistake to see. */
  readonly onRefused?: boolean;
  /** How long the fallback is asked first after the primary failed, ms. Default 30,000; 0 asks the primary every time. */
  readonly restMs?: number;
  now(): number;
  readonly logger: ModelLogger;
}

/**
 * Asks the fallback where the primary has failed or has used up half of the time that the run has left, and spares the primary for a while, so that a primary that hangs does
 * not cost every step of every turn its whole time-out. When both fail, the fallback's error is thrown.
 */
export function createFallbackModel(options: FallbackOptions): ChatModel {
  const { primary, fallback, logger, now } = options;
  const restMs = options.restMs ?? 30_000;
  let restUntil = Number.NEGATIVE_INFINITY;

  async function generate(request: ModelRequest): Promise<ModelReply> {
    if (now() >= restUntil) {
      try {
        return await withinHalf(request);
      } catch (error) {
        if (request.signal.aborted || !isReason(error, options.onRefused ?? false)) throw error;
        restUntil = now() + restMs;
        logger.warn(
          { model: primary.name, fallback: fallback.name, code: error.code },
          "model failed: asking the fallback",
        );
      }
    }
    return await fallback.generate(request);
  }

  async function withinHalf(request: ModelRequest): Promise<ModelReply> {
    const left = request.until === undefined ? Number.POSITIVE_INFINITY : request.until - now();
    if (left === Number.POSITIVE_INFINITY) return await primary.generate(request);
    const late = new DaleError("model_failed", "The model took more than half of the time that was left.");
    const clock = new AbortController();
    const timer = setTimeout(() => clock.abort(late), Math.max(0, left / 2));
    try {
      return await primary.generate({ ...request, signal: AbortSignal.any([request.signal, clock.signal]) });
    } finally {
      clearTimeout(timer);
    }
  }

  const seesImages = primary.seesImages === true && fallback.seesImages === true;
  return { name: primary.name, seesImages, generate };
}

function isReason(error: unknown, onRefused: boolean): error is DaleError {
  if (!(error instanceof DaleError)) return false;
  return error.code === "model_failed" || (onRefused && error.code === "model_refused");
}
