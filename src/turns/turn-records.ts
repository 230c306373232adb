import type { RunResult, WorkflowResult } from "../agents/runtime/index.js";
import type { Address } from "../channels/index.js";
import { type Proposal, reports } from "../gate/index.js";
import { answerText, partsOf } from "./answer.js";
import { type ApprovalReport, parkedRecords, withParked } from "./approval-turn.js";
import type { Decision } from "./gate-desk.js";
import type { Incoming } from "./incoming.js";
import type { TurnRecord } from "./ports.js";
import type { TurnChannel } from "./turn-context.js";

export interface TurnRecordsOptions {
  readonly channelOf: (address: Address) => TurnChannel;
  readonly now: () => number;
}

export type TurnResult = RunResult & Partial<WorkflowResult>;

/** What a run of an agent came to. */
export interface Answered {
  readonly decision: Decision;
  /** What waits for the person's yes now. */
  readonly pending: Proposal | undefined;
  readonly result: TurnResult;
}

/** The records that a turn may end with: what is kept of it, and what is sent. */
export interface TurnRecords {
  answered(incoming: Incoming, locale: string, answered: Answered, startedAt: number): TurnRecord;
  /** A yes to something that the person cannot have seen: they are shown the notice, and no model runs. */
  shownAgain(incoming: Incoming, proposal: Proposal, startedAt: number): TurnRecord;
  /** A call that a reviewer has decided about. */
  approval(incoming: Incoming, approval: string, report: ApprovalReport, startedAt: number): TurnRecord;
  failed(
    incoming: Incoming,
    failure: { readonly text: string; readonly code: string; readonly about: string | undefined },
    startedAt: number,
  ): TurnRecord;
}

export function createTurnRecords(options: TurnRecordsOptions): TurnRecords {
  function recordBase(incoming: Incoming, startedAt: number) {
    return {
      version: 1 as const,
      id: incoming.turn,
      session: incoming.session,
      agent: incoming.agent,
      address: incoming.address,
      origin: incoming.origin,
      desdeHumano: incoming.facts !== undefined,
      query: incoming.query,
      receivedAt: incoming.receivedAt,
      startedAt,
      finishedAt: options.now(),
    };
  }

  function partBase(incoming: Incoming) {
    return {
      turn: incoming.turn,
      session: incoming.session,
      address: incoming.address,
      group: incoming.group,
      ...(incoming.message?.group ? { replyTo: incoming.message.id } : {}),
      maxLength: options.channelOf(incoming.address).maxTextLength,
      at: options.now(),
    };
  }

  return {
    answered(incoming, locale, { decision, pending, result }, startedAt) {
      const { outcome, interrupted } = decision;
      const { receivedAt } = incoming;
      const style = options.channelOf(incoming.address).noticeStyle(locale, undefined);
      const parked = parkedRecords(result.parked ?? [], { receivedAt, style });
      const silent = result.answer.trim() === "" && !pending && parked.length === 0;
      const said = silent ? reports(locale).nothing : withParked(result.answer, parked, locale);
      const text = interrupted ? `${reports(locale).unknown(interrupted.proposal.tool)}\n\n${said}` : said;
      return {
        ...recordBase(incoming, startedAt),
        decision: outcome.kind,
        outcome: "answered",
        answer: answerText(text, pending),
        ...(pending ? { pending: pending.id } : {}),
        ...(outcome.kind === "none" ? {} : { about: outcome.proposal.id }),
        calls: result.calls,
        propuestas: result.propuestas,
        ...(parked.length === 0 ? {} : { parked }),
        ...(result.data === undefined ? {} : { data: result.data }),
        ...stepsOf(result),
        parts: partsOf({ ...partBase(incoming), text, ...(pending ? { proposal: pending } : {}) }),
      };
    },
    shownAgain(incoming, proposal, startedAt) {
      return {
        ...recordBase(incoming, startedAt),
        decision: "unseen",
        outcome: "shown_again",
        answer: proposal.notice,
        pending: proposal.id,
        about: proposal.id,
        calls: [],
        propuestas: [],
        parts: partsOf({ ...partBase(incoming), text: "", proposal }),
      };
    },
    approval(incoming, approval, report, startedAt) {
      const { text, calls } = report;
      return {
        ...recordBase(incoming, startedAt),
        decision: "none",
        outcome: "answered",
        answer: text,
        about: approval,
        calls,
        propuestas: [],
        parts: partsOf({ ...partBase(incoming), text }),
      };
    },
    failed(incoming, { text, code, about }, startedAt) {
      return {
        ...recordBase(incoming, startedAt),
        decision: "none",
        outcome: "failed",
        answer: text,
        error: code,
        calls: [],
        propuestas: [],
        parts: partsOf({ ...partBase(incoming), text }),
        ...(about === undefined ? {} : { about }),
      };
    },
  };
}

function stepsOf(result: RunResult & Partial<WorkflowResult>): { steps?: unknown } {
  const steps = result.workflow ?? result.chain;
  return steps === undefined ? {} : { steps };
}
