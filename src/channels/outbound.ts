/** One message as it is handed to a platform: at most the adapter's `maxTextLength`, plain text. */
export interface OutboundMessage {
  readonly chat: string;
  /** The person that it is meant for; in a group it says whose turn this was. */
  readonly sender: string;
  readonly group: boolean;
  readonly text: string;
  /** Where in the text the notice begins, if it ends with one: for a platform that can set it apart (webchat). */
  readonly noticeFrom?: number;
  /** Platform id of the message that this answers, if it should be shown as an answer. */
  readonly replyTo?: string;
  /** The id that this message is to have, where `capabilities.ownsIds`: chosen by `newId` and written down before. */
  readonly id?: string;
}

/** What came of handing one message to a platform. Adapters never throw for what a platform may do. */
export type SendResult =
  | {
      /** The platform has taken it. */
      readonly status: "accepted";
      /** The platform's id of the message: what receipts and quotes will name. */
      readonly ref: string;
      /** By the platform's clock, ms since 1970, where the platform says it. */
      readonly sentAt?: number;
      /** See InboundMessage.order. */
      readonly order?: number;
    }
  | {
      /** It surely did not reach anybody, and trying again will not help. */
      readonly status: "failed";
      /** Short and stable, e.g. `blocked`, `chat_not_found`, `window_closed`. */
      readonly code: string;
      /** What an operator should know or do, in a sentence. No phone numbers, no texts. */
      readonly reason: string;
    }
  | {
      /** It surely was not taken; it may be tried again, after `afterMs` if given. */
      readonly status: "retry";
      readonly code: string;
      readonly reason: string;
      readonly afterMs?: number;
    }
  | {
      /** The bytes left and no answer came: it may have been delivered. Never sent again by itself. */
      readonly status: "unknown";
      readonly code: string;
      readonly reason: string;
      /** The id, where it was chosen in advance: a receipt may still settle it. */
      readonly ref?: string;
    };

/** In rising order, but for `failed`. `read` implies `delivered` implies `accepted`. */
export type ReceiptLevel = "accepted" | "delivered" | "read" | "failed";

/** What a platform later says of a message that we sent. May come late, twice, in any order, or for messages not ours. */
export interface Receipt {
  /** The platform's id of the message. */
  readonly ref: string;
  readonly level: ReceiptLevel;
  /** When it happened by the platform's clock, ms since 1970. */
  readonly at: number;
  /** By our clock. */
  readonly receivedAt: number;
  /** For `failed`. */
  readonly code?: string;
  readonly reason?: string;
}
