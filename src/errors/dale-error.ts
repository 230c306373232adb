import { type ErrorCode, errorCatalogue } from "./catalogue.js";

export interface DaleErrorOptions {
  /** What went wrong underneath, if anything. Never logged with its texts unless a debug switch says so. */
  readonly cause?: unknown;
  /** Whether the same attempt may succeed later. Default: what the catalogue says of the code. */
  readonly retryable?: boolean;
  /** Milliseconds after which a retry makes sense, when the other side said so. */
  readonly retryAfterMs?: number;
}

/** Messages of a DaleError hold no message texts, arguments, tokens or phone numbers: they may be logged as they are. */
export class DaleError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;

  constructor(code: ErrorCode, message: string, options: DaleErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DaleError";
    this.code = code;
    this.retryable = options.retryable ?? errorCatalogue[code].retryable;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}

/** True when trying the same thing again may help. An error that is not Dale's own is taken for retryable: it is unknown. */
export function isRetryable(error: unknown): boolean {
  return error instanceof DaleError ? error.retryable : true;
}
