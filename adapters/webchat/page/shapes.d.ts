/** What the page's modules hand each other. Times in ms since 1970, by the server's clock unless said otherwise. */

/** A line of the chat's log, as the server's events carry it. `logId`s sort by age, as text. */
export type LogLine =
  | {
      readonly logId: string;
      readonly kind: "person";
      readonly id: string;
      readonly text: string;
      readonly at: number;
      readonly quotes?: string;
    }
  | { readonly logId: string; readonly kind: "queued"; readonly id: string; readonly at: number }
  | {
      readonly logId: string;
      readonly kind: "agent";
      readonly id: string;
      readonly text: string;
      readonly at: number;
      readonly replyTo?: string;
      /** Where in the text the notice begins, if it ends with one. */
      readonly noticeFrom?: number;
    };

export type Signal = { readonly kind: "typing" } | { readonly kind: "taken"; readonly id: string };

/** What a person typed and the server has not taken over yet. */
export interface Unsent {
  readonly id: string;
  readonly text: string;
  /** The browser's clock. */
  readonly typedAt: number;
  /** Log id of the last message that was on the screen when it was typed; "0" when there was none. */
  readonly seen: string;
}

/**
 * Of a message of the person: `waiting` in the browser, `sending`, `sent` (durably enqueued), `taken` up by the agent,
 * `failed`. An agent's message is always `shown`.
 */
export type MessageState = "waiting" | "sending" | "sent" | "taken" | "failed" | "shown";

/** A bubble. */
export interface Message {
  readonly id: string;
  readonly own: boolean;
  readonly text: string;
  readonly at: number;
  state: MessageState;
  /** Where it stands in the log, once it is there. */
  logId: string | undefined;
  /** Why it failed: an error code of the server, `offline`, or `unconfirmed`. */
  failure: string | undefined;
  readonly replyTo: string | undefined;
  readonly noticeFrom: number | undefined;
}

export interface Session {
  readonly chat: string;
  readonly title: string;
  readonly locale?: string;
  readonly maxTextLength: number;
}

/** What came of a request: the server's error code, or `offline` when there was no answer. */
export type Reply<T> =
  | { readonly ok: true; readonly body: T }
  | { readonly ok: false; readonly code: string; readonly retryAfterMs: number | undefined };
