import type { Address } from "../channels/index.js";
import type { ConsentRule, NoticeStyle } from "../gate/index.js";

/** What a turn must know of the agent that answers; from its YAML. */
export interface TurnAgent {
  readonly locale: string;
  readonly resume: "runtime" | "model";
  readonly memory: { readonly maxTurns: number; readonly ttlSeconds: number };
  /** Whether its model can look at pictures. */
  readonly seesImages: boolean;
  /** Whether its propuestas reach somebody although the channel cannot show them (`proposals.webhook`). */
  readonly proposalsWebhook: boolean;
}

/** What a turn must know of the channel that it answers on. */
export interface TurnChannel {
  readonly maxTextLength: number;
  /** Milliseconds to which the platform rounds the times of messages. */
  readonly sentAtResolution: number;
  /** What a yes hangs on, for an agent of that locale. */
  rule(locale: string): ConsentRule;
  noticeStyle(locale: string, addressee: string | undefined): NoticeStyle;
}

/** Signs of life for the person; best effort, nothing waits for them. */
export interface Presence {
  taken(address: Address, message: string): void;
  /** Until `stop` is called. */
  typing(address: Address): { stop(): void };
}
