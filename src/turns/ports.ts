import type { ModelMessage } from "../agents/models/index.js";
import type { StoredCall } from "../agents/runtime/index.js";
import type { Address, InboundMessage } from "../channels/index.js";
import type { ExecutionResult } from "../gate/index.js";
import type { OutboundPart } from "../outbound/index.js";

/** Who wrote the query of a turn. Only `person` runs with desdeHumano true. */
export type Origin = "person" | "api" | "mcp" | "schedule" | "workflow" | "approval";

/** What waits in the inbound queue. */
export type TurnRequest =
  | { readonly version: 1; readonly kind: "message"; readonly agent: string; readonly message: InboundMessage }
  | {
      readonly version: 1;
      readonly kind: "run";
      readonly origin: Exclude<Origin, "person" | "approval">;
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
    }
  /** A reviewer has decided about a call that an earlier turn of the session parked, or nobody has in time. */
  | {
      readonly version: 1;
      readonly kind: "approval";
      readonly approval: string;
      /** The agent that answers in this session. */
      readonly agent: string;
      readonly session: string;
      readonly place: ApprovalPlace;
      readonly receivedAt: number;
    };

/** Where the person is told of a decision. */
export interface ApprovalPlace {
  readonly address: Address;
  readonly group: boolean;
}

/** A call that a turn left with the reviewers. */
export interface ParkedRecord {
  /** Of the approval: the same for every run of the turn. */
  readonly id: string;
  /** Whose tool it is. */
  readonly agent: string;
  readonly tool: string;
  readonly fingerprint: string;
  /** Canonical text: what will run. */
  readonly args: string;
  /** The call as the person was shown it. */
  readonly shown: string;
  /** The person's own yes, where the call is gated as well. */
  readonly consent?: { readonly proposal: string; readonly at: number };
}

/** The approvals of turns, wherever they live. */
export interface TurnApprovals {
  /** Puts a committed turn's parked calls before the reviewers; idempotent by their ids. */
  request(record: TurnRecord, place: ApprovalPlace): Promise<void>;
  /** Uses a yes up, so that its call can be made by this run and by no other; or says what else became of it. */
  begin(id: string, run: ApprovalRunId): Promise<BegunApproval>;
  settle(id: string, run: ApprovalRunId, result: ExecutionResult): Promise<void>;
  /** For a turn that is dead: nothing may be made later. */
  abandon(id: string): Promise<BegunApproval>;
}

export interface ApprovalRunId {
  readonly turn: string;
  readonly fence: number;
}

export type BegunApproval =
  /** Make the call, now: nobody will ever be told so again. */
  | { readonly kind: "run"; readonly call: DecidedCall }
  | { readonly kind: "ended"; readonly call: DecidedCall; readonly result: ExecutionResult }
  | { readonly kind: "rejected" | "expired"; readonly call: DecidedCall }
  /** Another run makes it. */
  | { readonly kind: "running" }
  /** Nobody has decided, or nothing is known of it: there is nothing to do and nothing to tell. */
  | { readonly kind: "none" };

export interface DecidedCall extends StoredCall {
  readonly fingerprint: string;
  readonly shown: string;
}

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
  /** Calls that this turn left with the reviewers. Absent: none. */
  readonly parked?: readonly ParkedRecord[];
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
