/**
 * What the gate may know of a person's message. It is made by `humanFacts` from a channel's normal form, and there is
 * no other way to make one: a model's text has no provenance.
 */
export interface HumanFacts {
  /** The platform's id of the message. */
  readonly message: string;
  readonly words: TypedWords;
  /** Platform id of the message that the person answered or quoted. */
  readonly quotes?: string;
  /** By the platform's clock, ms; `sentAtResolution` says how coarse it is (1000 on Telegram and WhatsApp). */
  readonly sentAt: number;
  readonly sentAtResolution: number;
  /** By our clock, ms. */
  readonly receivedAt: number;
  readonly order?: number;
}

declare const typedWords: unique symbol;
/** Raw text as a person typed it, or null for a message that was not typed. Only `humanFacts` makes one. */
export type TypedWords = (string | null) & { readonly [typedWords]: true };
