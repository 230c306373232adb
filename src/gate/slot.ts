import type { HumanFacts, Tolerance } from "./consent.js";

/** A gated call that waits, or waited. Plain JSON; `args` is the canonical text that will run, byte for byte. */
export interface Proposal {
  readonly id: string;
  /** The agent whose tool it is (a sub-agent's name when it came from one). */
  readonly agent: string;
  readonly tool: string;
  /** sha256(JCS(["v1", tool, args])), lowercase hex. */
  readonly fingerprint: string;
  readonly args: string;
  /** The notice, exactly as the person is shown it. */
  readonly notice: string;
  /** The turn that proposed it. */
  readonly turn: string;
  /** Ms since 1970, our clock. */
  readonly proposedAt: number;
  readonly expiresAt: number;
}

export type NoticeLevel = "accepted" | "delivered" | "read";

/** One sending of the notice. A notice is shown again after an `unseen` yes, so a proposal may have up to four. */
export interface Showing {
  /** The outbound part that carries it. */
  readonly part: string;
  /**
   * `sent`: the platform took this message. `accepted` and above come only from `noticeDelivered`, which the sender
   * raises once EVERY part of the answer that the notice ends has reached that level (on Telegram right after
   * `noticeSent`, unless an earlier part is missing). Only a level can be confirmed, never `sent`.
   */
  readonly state: "sending" | "sent" | NoticeLevel | "failed" | "unknown";
  /** Our clock, ms: when the platform was first given it. A word that arrived here earlier cannot answer it. */
  readonly startedAt: number;
  /** The platform's id of the message, once known. */
  readonly ref?: string;
  /** The platform's clock, ms, where it says so. */
  readonly sentAt?: number;
  readonly deliveredAt?: number;
  readonly readAt?: number;
  /** Place in the platform's order of the chat's messages, where there is one. */
  readonly order?: number;
}

/** The yes. */
export interface Grant {
  readonly turn: string;
  /** Id of the person's message. */
  readonly message: string;
  readonly at: number;
}

/**
 * `failed`: surely not executed. `unknown`: the request had left and no answer came, so it may have been executed: it is
 * evidence `unknown`, never repeated, and stands in the list of unsettled executions like one that a crash cut off.
 */
export interface ExecutionResult {
  readonly status: "executed" | "failed" | "unknown";
  /** What the model was, or is to be, given as the call's result. */
  readonly content: string;
}

/** It has not run: a rule left it to a reviewer as well, and it waits under the name of that approval. */
export interface ParkedExecution {
  readonly status: "parked";
  readonly content: string;
  readonly approval: string;
}

/** What a grant that was used up came to. */
export type GrantResult = ExecutionResult | ParkedExecution;

/** A run of a turn: a retried turn is another run of the same turn. */
export interface RunId {
  readonly turn: string;
  /** The queue's fence: larger for the later run. */
  readonly fence: number;
}

export type SlotState =
  | { readonly state: "empty" }
  | {
      readonly state: "pending";
      readonly proposal: Proposal;
      readonly showings: readonly Showing[];
      /** How often it was shown again after an `unseen` yes. */
      readonly reshown: number;
    }
  | { readonly state: "granted"; readonly proposal: Proposal; readonly grant: Grant }
  | {
      readonly state: "executing";
      readonly proposal: Proposal;
      readonly grant: Grant;
      readonly run: RunId;
      readonly since: number;
    };

/**
 * The one place for a proposal that a session has. What stands beside `current` remembers, so that retries, repetitions
 * and the next turn are answered truthfully; none of it lets anything run.
 */
export interface Slot {
  readonly version: 1;
  readonly current: SlotState;
  /** The current turn's finished execution, kept until the turn ends: a repetition or a retry gets its result. */
  readonly executed?: {
    readonly proposal: Proposal;
    readonly grant: Grant;
    readonly run: RunId;
    readonly result: GrantResult;
  };
  /** The last human message and what came of it: a retried turn is decided the same way. `fence`: its latest run's. */
  readonly decided?: { readonly turn: string; readonly fence: number; readonly outcome: HumanOutcome };
  /**
   * The last execution that was declared `unknown`. `toldTo`: the turn that was given it as `interrupted`; absent until
   * a turn was.
   */
  readonly lost?: {
    readonly proposal: Proposal;
    readonly grant: Grant;
    readonly run: RunId;
    readonly toldTo?: string;
  };
  /** A proposal that lapsed by itself: the next human message is told. */
  readonly lapsed?: Proposal;
  /** Turns whose messages the person took back or changed, the latest last: they grant nothing any more. */
  readonly retracted?: readonly string[];
}

export const emptySlot: Slot = { version: 1, current: { state: "empty" } };

// --- events -----------------------------------------------------------------------------------------------------

export interface Propose {
  readonly type: "propose";
  readonly proposal: Proposal;
}
/** The sender is about to hand the part with the notice to the platform. */
export interface NoticeSending {
  readonly type: "noticeSending";
  readonly proposal: string;
  readonly part: string;
  /** The platform's id that the message will have, where the channel chooses ids itself. */
  readonly ref?: string;
  readonly at: number;
}
/** The platform took it (state `sent`). It cannot be confirmed yet: see NoticeDelivered. */
export interface NoticeSent {
  readonly type: "noticeSent";
  readonly proposal: string;
  readonly part: string;
  readonly ref: string;
  readonly at: number;
  readonly sentAt?: number;
  readonly order?: number;
}
/** It reached `level`, with everything that was sent before it in the same answer. Written as `notice_delivered`. */
export interface NoticeDelivered {
  readonly type: "noticeDelivered";
  readonly proposal: string;
  readonly part: string;
  readonly level: NoticeLevel;
  /** When it arrived, by the platform's clock, where the platform says so: only such a time is compared with a word's. */
  readonly deliveredAt?: number;
  readonly at: number;
}
/** It will not arrive (`failed`), or nobody knows (`unknown`). */
export interface NoticeFailed {
  readonly type: "noticeFailed";
  readonly proposal: string;
  readonly part: string;
  readonly state: "failed" | "unknown";
  readonly code: string;
  readonly at: number;
}
/** A new message of the person, in a `desdeHumano` turn. The only event that can grant or discard. */
export interface HumanMessage {
  readonly type: "humanMessage";
  readonly run: RunId;
  readonly facts: HumanFacts;
  readonly rule: ConsentRule;
  readonly at: number;
}
/** A turn begins that no person wrote. Like humanMessage it settles what an earlier run left behind, and decides nothing. */
export interface TurnBegins {
  readonly type: "turnBegins";
  readonly run: RunId;
  readonly at: number;
}
export interface Consume {
  readonly type: "consume";
  readonly tool: string;
  readonly fingerprint: string;
  readonly run: RunId;
  readonly at: number;
}
/** What came of the call that was consumed. */
export interface Settle {
  readonly type: "settle";
  readonly proposal: string;
  readonly run: RunId;
  readonly result: GrantResult;
  readonly at: number;
}
/** `failed`: the run raised; what it proposed and nobody was shown is withdrawn. */
export interface EndTurn {
  readonly type: "endTurn";
  readonly turn: string;
  readonly failed: boolean;
  readonly at: number;
}
/** The person took the message of that turn back, or changed it. */
export interface Retract {
  readonly type: "retract";
  readonly turn: string;
  readonly at: number;
}
export interface Expire {
  readonly type: "expire";
  readonly at: number;
}

export type SlotEvent =
  | Propose
  | NoticeSending
  | NoticeSent
  | NoticeDelivered
  | NoticeFailed
  | HumanMessage
  | TurnBegins
  | Consume
  | Settle
  | EndTurn
  | Retract
  | Expire;

/** What the consent of this session hangs on, besides the words. */
export interface ConsentRule {
  /** Already normalised by `createWords`. */
  readonly words: readonly string[];
  readonly tolerate: readonly Tolerance[];
  /** From which level on a notice counts as delivered. */
  readonly level: NoticeLevel;
  /** How often an unseen notice is shown again. 3 unless a test says otherwise. */
  readonly showAgainLimit: number;
}

// --- outcomes ---------------------------------------------------------------------------------------------------

export type UnseenReason = "not_sent" | "not_delivered" | "too_early" | "buried";

export type HumanOutcome =
  /** Nothing was pending: an ordinary turn. */
  | { readonly kind: "none" }
  | { readonly kind: "granted"; readonly proposal: Proposal }
  /** The message was something else than a yes: an ordinary turn, in which the model is told. */
  | { readonly kind: "discarded"; readonly proposal: Proposal }
  /** A yes to something that the person cannot have seen. `again`: show the notice; else it was discarded. */
  | { readonly kind: "unseen"; readonly proposal: Proposal; readonly reason: UnseenReason; readonly again: boolean }
  /** The proposal had lapsed: an ordinary turn, in which the model is told. */
  | { readonly kind: "expired"; readonly proposal: Proposal };

/** What an earlier run left in the middle of an execution: it is never repeated. */
export interface Interrupted {
  readonly proposal: Proposal;
  readonly grant: Grant;
}

export type ProposeOutcome =
  | { readonly kind: "proposed"; readonly proposal: Proposal }
  /** The same call was proposed earlier in this turn: it is the same proposal. */
  | { readonly kind: "repeated"; readonly proposal: Proposal }
  /** Another one waits. */
  | { readonly kind: "occupied"; readonly proposal: Proposal };

export type ConsumeOutcome =
  | { readonly kind: "run"; readonly proposal: Proposal; readonly grant: Grant }
  /** It already ran in this turn. */
  | { readonly kind: "repeat"; readonly proposal: Proposal; readonly result: GrantResult }
  /** It is running, or an earlier run began it. */
  | { readonly kind: "running"; readonly proposal: Proposal }
  | { readonly kind: "refused" };

export interface OutcomeOf {
  propose: ProposeOutcome;
  noticeSending: { readonly kind: "recorded" } | { readonly kind: "stale" };
  noticeSent: { readonly kind: "recorded" } | { readonly kind: "stale" };
  noticeDelivered: { readonly kind: "recorded" } | { readonly kind: "stale" };
  noticeFailed: { readonly kind: "recorded" } | { readonly kind: "stale" };
  humanMessage: HumanOutcome & { readonly interrupted?: Interrupted };
  turnBegins: { readonly kind: "none"; readonly interrupted?: Interrupted };
  consume: ConsumeOutcome;
  /** `late`: another run had already declared it unknown; the evidence now says how it ended. */
  settle: { readonly kind: "recorded" } | { readonly kind: "late" };
  endTurn: { readonly kind: "ended" };
  retract: { readonly kind: "recorded" };
  expire: { readonly kind: "expired"; readonly proposal: Proposal } | { readonly kind: "none" };
}

/** What a transition adds to the evidence; the store completes it with id and session, in the same step. */
export interface EvidenceDraft {
  readonly type:
    | "proposed"
    | "notice_sent"
    | "notice_delivered"
    | "notice_failed"
    | "granted"
    | "discarded"
    | "unseen"
    | "expired"
    | "withdrawn"
    | "consumed"
    | "executed"
    | "failed"
    | "parked"
    | "unknown";
  readonly at: number;
  readonly proposal: string;
  readonly agent: string;
  readonly tool: string;
  readonly argsHash: string;
  readonly turn?: string;
  /** What else the type needs: the words and message id of a grant, part and ref of a notice, reasons. */
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

export interface Transition<Outcome> {
  /** The same object when it did not change: then there is nothing to write but `evidence`, if any. */
  readonly slot: Slot;
  readonly outcome: Outcome;
  readonly evidence: readonly EvidenceDraft[];
}

/** What the store reads together with the slot. */
export interface Surroundings {
  /**
   * The outbound part that was last handed to the platform for this chat, whoever of the chat it was meant for. Absent
   * when none is known: then no notice is known to be the last thing that was sent, and only a yes that quotes it counts.
   */
  readonly lastSent?: string;
}
