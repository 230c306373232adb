import type { Address, Receipt } from "../channels/index.js";

/** One message to one person, as it waits in the outbound queue. Its id is `out-<turn>-<n>`: a turn that ran twice
 * cannot send twice. */
export interface OutboundPart {
  readonly version: 1;
  readonly id: string;
  readonly session: string;
  readonly address: Address;
  readonly group: boolean;
  readonly turn: string;
  /** Place in the turn's answer, from 1, and how many there are. A part goes out only after the one before it. */
  readonly index: number;
  readonly of: number;
  readonly text: string;
  /** Platform id of the message that the turn answers. */
  readonly replyTo?: string;
  /**
   * The proposal whose notice ends this part: always the last part of its answer, whole. The notice is
   * `text.slice(from)`; when the proposal is gone before the part is sent, only the text before it goes out.
   */
  readonly notice?: { readonly proposal: string; readonly expiresAt: number; readonly from: number };
  readonly createdAt: number;
}

export type DeliveryState = "queued" | "sending" | "accepted" | "delivered" | "read" | "failed" | "unknown";

/** What is known of a part. Times in ms since 1970. */
export interface Delivery {
  readonly version: 1;
  readonly part: string;
  readonly session: string;
  readonly turn: string;
  readonly channel: string;
  readonly account: string;
  readonly index: number;
  readonly of: number;
  readonly notice?: string;
  readonly state: DeliveryState;
  readonly ref?: string;
  readonly attempts: number;
  readonly times: Readonly<Partial<Record<DeliveryState, number>>>;
  /** The platform's clock. */
  readonly platformTimes?: Readonly<Partial<Record<"accepted" | "delivered" | "read", number>>>;
  readonly order?: number;
  /** For failed and unknown: short code, and a sentence for the operator. */
  readonly code?: string;
  readonly reason?: string;
}

/**
 * Changes to a delivery record; the pure reducer in `delivery.ts` says what they come to. `queued` or `sending` makes the
 * record; any other event on a part without one is DaleError `delivery_unknown`.
 */
export type DeliveryEvent =
  | { readonly type: "queued"; readonly part: OutboundPart; readonly at: number }
  | { readonly type: "sending"; readonly part: OutboundPart; readonly ref?: string; readonly at: number }
  | {
      readonly type: "accepted";
      readonly ref: string;
      readonly sentAt?: number;
      readonly order?: number;
      readonly at: number;
    }
  /** Surely not taken by the platform: it waits again. */
  | { readonly type: "retry"; readonly code: string; readonly reason: string; readonly at: number }
  | { readonly type: "failed" | "unknown"; readonly code: string; readonly reason: string; readonly at: number }
  | { readonly type: "receipt"; readonly receipt: Receipt };

/**
 * Where delivery records live. Every change is one atomic script (compare-and-set on the record); `sending` also makes
 * the part the last one sent to its chat, in the same script, with the person whom it was sent to. Contract suite: test/contracts/delivery-store.ts.
 */
export interface DeliveryStore {
  /** Applies one event; answers the record before and after (the same object when nothing changed). */
  apply(part: string, event: DeliveryEvent): Promise<{ readonly before?: Delivery; readonly after: Delivery }>;
  read(part: string): Promise<Delivery | undefined>;
  /** The records of all parts of one turn's answer, by index. */
  ofTurn(turn: string): Promise<readonly Delivery[]>;
  /** The part that has this platform id on this account. */
  partOf(channel: string, account: string, ref: string): Promise<string | undefined>;
  /** Keeps a receipt whose message is not known (yet) for ten minutes. */
  park(channel: string, account: string, receipt: Receipt): Promise<void>;
  /** What was parked for this message, oldest first; kept to the end of its time: applied twice, it changes nothing. */
  parked(channel: string, account: string, ref: string): Promise<readonly Receipt[]>;
  recent(query: { readonly session?: string; readonly limit: number }): Promise<readonly Delivery[]>;
  /**
   * Somebody wrote in a chat (`<channel>:<account>:<chat>`): what was last sent there is not the last thing that was said
   * there any more.
   * @param sender then it still is for them: what they write is an answer to it, not something that came between
   */
  interrupt(chat: string, sender?: string): Promise<void>;
}
