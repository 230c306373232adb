import type { ToolResult } from "./tool.js";

/** How a call came to no usable answer. Short and stable: they reach evidence, metrics and tests. */
export type FaultCode =
  | "unreachable"
  | "address_refused"
  | "timeout"
  | "reset"
  | "bad_answer"
  | "too_large"
  | "not_text"
  | "redirected";

/**
 * `left`: whether any byte of the request may have reached the other side, which may then have done what it asks.
 * False is a promise: no connection came to be.
 */
export class HttpFault extends Error {
  constructor(
    readonly code: FaultCode,
    readonly left: boolean,
    options?: { readonly cause?: unknown },
  ) {
    super(code, options);
    this.name = "HttpFault";
  }
}

const wording: Record<FaultCode, string> = {
  unreachable: "The server could not be reached; nothing was sent to it.",
  address_refused: "The server's address is not on the public internet; nothing was sent to it.",
  timeout: "The server did not answer in time.",
  reset: "The connection was lost before the answer was complete.",
  bad_answer: "What the server answered is not valid HTTP.",
  too_large: "The server's answer is too large to be read.",
  not_text: "The server's answer is neither JSON nor text.",
  redirected: "The server redirected the call to another address, which is not followed.",
};

/** What the model, the person and the evidence are told of a fault. */
export function faultResult(fault: HttpFault): ToolResult {
  const note = fault.left ? " It is not known whether the call was carried out." : "";
  return { ok: false, code: fault.code, content: wording[fault.code] + note, uncertain: fault.left };
}

/** A call that was surely not carried out. */
export function notDone(code: string, content: string): ToolResult {
  return { ok: false, code, content, uncertain: false };
}

export const tooMany = notDone("rate_limited", "Not called: too many calls in a short time. Try again later.");
