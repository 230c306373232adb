import type { JsonValue } from "../../canonical/index.js";

/**
 * What a model is given as the result of a call that the runtime itself decided on. JSON with a `status`, so that a
 * scripted model can match it; the message is for language models. None of it is ever shown to the person.
 */
export type RuntimeResult =
  | { readonly status: "waiting_for_confirmation"; readonly executed: false; readonly message: string }
  | { readonly status: "waiting_for_approval"; readonly executed: false; readonly message: string }
  | { readonly status: "refused"; readonly executed: false; readonly reason: string; readonly message: string }
  | { readonly status: "error"; readonly executed: false; readonly reason: string; readonly message: string }
  | { readonly status: "proposed"; readonly executed: false; readonly message: string }
  | { readonly status: "failed"; readonly executed: false; readonly message: string; readonly result: JsonValue }
  | { readonly status: "unknown"; readonly message: string }
  | {
      readonly status: "repetition";
      readonly executed_again: false;
      readonly message: string;
      readonly result: JsonValue;
    };

export function resultText(result: RuntimeResult): string {
  return JSON.stringify(result);
}

/** The content of an earlier result inside another one: as JSON where it is JSON. */
export function embedded(content: string): JsonValue {
  try {
    return JSON.parse(content) as JsonValue;
  } catch {
    return content;
  }
}

export function waiting(again: boolean): string {
  const message = again
    ? "This is the call that already waits. It has NOT run. The runtime asks the person for it; do not call it again."
    : "This call has NOT run. It waits for the person's own confirmation: the runtime itself shows the exact call at the " +
      "end of your answer and asks for it. Do not say that it is done, do not ask for a confirmation yourself, and do " +
      "not make the call again. If the next thing that the person writes is anything else, the call is discarded and " +
      "never runs.";
  return resultText({ status: "waiting_for_confirmation", executed: false, message });
}

/** A reviewer has to say yes, who is not the person. */
export function waitingForApproval(again: boolean): string {
  const message = again
    ? "This is the call that already waits for a reviewer. It has NOT run. Do not call it again."
    : "This call has NOT run. Somebody else has to approve it first: the runtime itself tells the person so at the end of " +
      "your answer, and again once it was decided. Do not say that it is done, and do not make the call again.";
  return resultText({ status: "waiting_for_approval", executed: false, message });
}

export function occupied(): string {
  return refusal(
    "another_call_waits",
    "This call has NOT run and is not registered: there is room for one call at a time, and another one waits for the " +
      "person's confirmation, or was confirmed and is not made yet. " +
      "Tell the person what is left to do; you can make this call again once the other one is settled.",
  );
}

export function nobodyToAsk(): string {
  return refusal(
    "nobody_to_ask",
    "This call has NOT run: it needs a person's own confirmation, and in this run there is nobody to ask.",
  );
}

export function noticeTooLong(): string {
  return refusal(
    "too_long",
    "This call has NOT run: its arguments do not fit in one message, so the person could not be shown them. Use shorter " +
      "arguments.",
  );
}

export function refusal(reason: string, message: string): string {
  return resultText({ status: "refused", executed: false, reason, message });
}

export function mistake(reason: string, message: string): string {
  return resultText({ status: "error", executed: false, reason, message });
}

export function repetition(content: string): string {
  return resultText({
    status: "repetition",
    executed_again: false,
    message: "The very same call already ran in this turn. It did not run again; this is its result.",
    result: embedded(content),
  });
}

export function proposedToCaller(): string {
  return resultText({
    status: "proposed",
    executed: false,
    message:
      "This write was recorded as a proposal for whoever runs that system. It was NOT executed. Do not say that it is " +
      "done, and take no step that depends on it; say what you proposed.",
  });
}

export function failedExecution(content: string): string {
  return resultText({
    status: "failed",
    executed: false,
    message: "The person confirmed this call, but it failed and was not executed.",
    result: embedded(content),
  });
}

export function unknownExecution(): string {
  return resultText({
    status: "unknown",
    message:
      "The person confirmed this call and it was begun, but its answer never came: nobody knows whether it was executed. " +
      "It is not repeated, and you must not make it again. Say exactly that; an operator can check it.",
  });
}

/** A result no longer than `limit`; what was left out is said. */
export function cut(content: string, limit: number): string {
  if (content.length <= limit) return content;
  return `${content.slice(0, limit)}\n[cut: ${content.length - limit} more characters were left out]`;
}
