import type { ModelMessage } from "../agents/models/index.js";
import type { Address, InboundMessage } from "../channels/index.js";
import type { OutboundPart } from "../outbound/index.js";

/** Who wrote the query of a turn. Only `person` runs with desdeHumano true. */
export type Origin = "person" | "api" | "mcp" | "schedule" | "workflow";

/** What waits in the inbound queue. */
export type TurnRequest =
  | { readonly version: 1; readonly kind: "message"; readonly agent: string; readonly message: InboundMessage }
  | {
      readonly version: 1;
      readonly kind: "run";
      readonly origin: Exclude<Origin, "person">;
      /** The agent's name, or with target `workflow` the workflow's. */
      readonly agent: string;
      readonly target: "agent" | "workflow";
      readonly session: string;
      readonly query: string;
      /** For `api`: whether the caller says that a person wrote the query. Others are never a person. */
      readonly desdeHumano: boolean;
      readonly receivedAt: number;
      /** Where per-run credentials wait, sealed; never in here. */
      readonly secrets?: string;
    };

export interface CallRecord {
  readonly tool: string;
  readonly argsHash: string;
  /** `waits`: it became the proposal. `refused`: the model was told why. `repeat`: it got an earlier result. */
  readonly outcome: "ok" | "error" | "waits" | "refused" | "repeat" | "executed" | "failed" | "unknown";
  readonly startedAt: number;
  readonly ms: number;
  readonly via?: readonly string[];
  /** Short code of an error or refusal. */
  readonly code?: string;
}

/** What came of a turn: written once, by the run that still owns it, with the answer and the memory of it. */
export interface TurnRecord {
  readonly version: 1;
  readonly id: string;
  readonly session: string;
  readonly agent: string;
  readonly address?: Address;
  readonly origin: Origin;
  readonly desdeHumano: boolean;
  readonly query: string;
  readonly decision: "none" | "granted" | "discarded" | "unseen" | "expired";
  readonly outcome: "answered" | "shown_again" | "failed";
  readonly answer: string;
  /** Proposal that this turn left waiting. */
  readonly pending?: string;
  /** Proposal that this turn granted, discarded, showed again or found expired. */
  readonly about?: string;
  readonly calls: readonly CallRecord[];
  readonly propuestas: readonly unknown[];
  /** The answer as data, where the agent declares an output schema; a workflow's last output. */
  readonly data?: unknown;
  /** What became of a workflow's steps, or of a chain's links. */
  readonly steps?: unknown;
  /** Short code, for `failed`. */
  readonly error?: string;
  readonly receivedAt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  /** What is to be sent: the outbox. Enqueued, again if need be, before the turn is released. */
  readonly parts: readonly OutboundPart[];
}

/** Turns that were committed. Contract suite: test/contracts/turn-store.ts. */
export interface TurnStore {
  /** @param fence of the run that asks: from now on no run with a smaller one can commit this turn */
  read(turn: string, fence?: number): Promise<TurnRecord | undefined>;
  /**
   * Writes the record, appends to the conversation's memory and to the session's timeline, in one step.
   * `already`: another run of this turn was first, and its record stands. `fenced`: a later run owns the turn.
   */
  commit(
    record: TurnRecord,
    remember:
      | { readonly messages: readonly ModelMessage[]; readonly maxTurns: number; readonly ttlSeconds: number }
      | undefined,
    fence: number,
  ): Promise<"committed" | "already" | "fenced">;
  /** Newest first. */
  recent(query: { readonly session?: string; readonly limit: number }): Promise<readonly TurnRecord[]>;
  /** Sessions by last activity, newest first. */
  sessions(limit: number): Promise<readonly { readonly session: string; readonly lastAt: number }[]>;
  /** The opaque `ses_…` id that logs use, and back. */
  opaque(session: string): string;
  resolve(opaque: string): Promise<string | undefined>;
}

/** What the model is reminded of. */
export interface ConversationMemory {
  load(session: string, agent: string, maxTurns: number): Promise<readonly ModelMessage[]>;
}

/** Executions that were begun and whose end nobody saw. */
export interface UnsettledStore {
  list(limit: number): Promise<readonly UnsettledExecution[]>;
  /** An operator says how it ended. False when it is settled already. */
  settle(
    proposal: string,
    verdict: {
      readonly result: "executed" | "not_executed";
      readonly comment: string;
      readonly by: string;
      readonly at: number;
    },
  ): Promise<boolean>;
}
export interface UnsettledExecution {
  readonly proposal: string;
  readonly session: string;
  readonly agent: string;
  readonly tool: string;
  readonly argsHash: string;
  readonly notice: string;
  readonly since: number;
}

/** Tells processes of each other's turns, best effort: whoever waits also looks into the TurnStore now and then. */
export interface TurnSignals {
  announce(turn: string): Promise<void>;
  /** Calls back when the turn is announced; resolves when it is listening. @returns stops listening */
  listen(turn: string, onAnnounced: () => void): Promise<() => void>;
}
