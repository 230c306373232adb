import { APICallError, InvalidResponseDataError } from "@ai-sdk/provider";
import { DaleError } from "../../errors/index.js";

/**
 * What a provider's error comes to. The provider's own error carries the whole conversation and what the endpoint said
 * of it, so neither its message nor itself (as `cause`) goes any further: only statuses and system codes do.
 * @param now ms since 1970, for a Retry-After that is a date
 */
export function providerFault(error: unknown, now: number): DaleError {
  if (error instanceof DaleError) return error;
  if (InvalidResponseDataError.isInstance(error)) {
    return new DaleError("model_failed", "The model endpoint answered without any choice.");
  }
  if (!APICallError.isInstance(error)) {
    return new DaleError(
      "model_failed",
      `The model endpoint could not be used (${systemCode(error) ?? "unknown fault"}).`,
    );
  }
  const status = error.statusCode;
  if (status === undefined || status < 300) {
    const code = systemCode(error);
    if (code !== undefined) return new DaleError("model_failed", `The model endpoint could not be reached (${code}).`);
    return new DaleError(
      "model_failed",
      status === undefined
        ? "The model endpoint could not be reached."
        : "The model endpoint's answer is not the JSON of a chat completion.",
    );
  }
  const message = `The model endpoint answered ${status}.`;
  if (!isRetryableStatus(status)) return new DaleError("model_refused", message);
  const retryAfterMs = retryAfter(error.responseHeaders ?? {}, now);
  return new DaleError("model_failed", message, retryAfterMs === undefined ? {} : { retryAfterMs });
}

function isRetryableStatus(status: number): boolean {
  return status >= 500 || status === 408 || status === 409 || status === 425 || status === 429;
}

/** RFC 9110 10.2.3: seconds, or an HTTP date. */
function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The first system error code (`ECONNRESET`, …) in a chain of causes. */
function systemCode(error: unknown): string | undefined {
  let at = error;
  for (let depth = 0; depth < 8 && at instanceof Error; depth++) {
    const code: unknown = "code" in at ? at.code : undefined;
    if (typeof code === "string" && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code;
    at = at.cause;
  }
  return undefined;
}
