import { z } from "zod";
import type { Retry } from "./agent-types.js";
import { seconds, text, whole } from "./fields.js";

/** A condition of a chain's link or a workflow's step. */
export const whenShape = text('"{{ output.data.score > 7 }}"').regex(/\{\{[\s\S]*\}\}/, {
  error: 'must be a template: write for example "{{ output.data.score > 7 }}"',
});

export const retryShape = z.strictObject({
  max_attempts: whole(1, 10, 3),
  backoff: z.enum(["fixed", "exponential"]).default("fixed"),
  initial_delay_seconds: seconds(600, 1).default(1),
});

export function buildRetry(retry: z.output<typeof retryShape>): Retry {
  return {
    maxAttempts: retry.max_attempts,
    backoff: retry.backoff,
    initialDelayMs: Math.round(retry.initial_delay_seconds * 1000),
  };
}
