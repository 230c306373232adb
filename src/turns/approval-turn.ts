import { setTimeout as sleep } from "node:timers/promises";
import type { ModelMessage } from "../agents/models/index.js";
import type { ParkedCall, StoredCallOptions, StoredResult } from "../agents/runtime/index.js";
import { digestId } from "../canonical/index.js";
import { DaleError } from "../errors/index.js";
import { type ExecutionResult, type NoticeStyle, wordCall } from "../gate/index.js";
import { approvalWords } from "./approval-words.js";
import type { ApprovalRunId, BegunApproval, CallRecord, DecidedCall, ParkedRecord, TurnApprovals } from "./ports.js";

/** What a decided approval came to, for the person, the record and the conversation. */
export interface ApprovalReport {
  readonly text: string;
  readonly calls: readonly CallRecord[];
  readonly messages: readonly ModelMessage[];
}

export interface ApprovalTurnOptions {
  readonly approvals: TurnApprovals;
  readonly perform: (call: DecidedCall, options: Omit<StoredCallOptions, "granted">) => Promise<StoredResult>;
  readonly pause?: (ms: number) => Promise<void>;
  readonly now: () => number;
}

export interface ApprovalTurn {
  readonly approval: string;
  readonly session: string;
  readonly run: ApprovalRunId;
  readonly locale: string;
  readonly signal: AbortSignal;
}

/**
 * Makes the call that a reviewer has approved, once: the yes is used up before it, and how it ended is written after it.
 * A run that finds that an earlier one began it never begins it again.
 * @returns undefined when there is nothing to do and nothing to tell
 * @throws DaleError `turn_aborted` when another run makes the call, `store_unavailable`
 */
export async function performApproval(
  options: ApprovalTurnOptions,
  turn: ApprovalTurn,
): Promise<ApprovalReport | undefined> {
  const { approvals, now } = options;
  const { approval, run, signal, session } = turn;
  signal.throwIfAborted();
  const begun = await approvals.begin(approval, run);
  if (begun.kind === "running") throw new DaleError("turn_aborted", "Another run makes the approved call.");
  if (begun.kind !== "run") return reportOf(begun, turn.locale, []);
  const { call } = begun;
  const startedAt = now();
  const { status, content, code } = await options.perform(call, { session, signal });
  await settle(options, turn, { status, content });
  const record = { tool: call.tool, argsHash: call.fingerprint, outcome: status, startedAt, ms: now() - startedAt };
  const calls = [{ ...record, ...(code === undefined ? {} : { code }) }];
  return reportOf({ kind: "ended", call, result: { status, content } }, turn.locale, calls);
}

/** For a turn that is dead. */
export async function abandonApproval(
  options: ApprovalTurnOptions,
  approval: string,
  locale: string,
): Promise<ApprovalReport | undefined> {
  return reportOf(await options.approvals.abandon(approval), locale, []);
}

/** If it cannot be written, the run goes on with what it knows; the record then says unknown, which an operator settles. */
async function settle(options: ApprovalTurnOptions, turn: ApprovalTurn, result: ExecutionResult): Promise<void> {
  const pause = options.pause ?? ((ms: number) => sleep(ms));
  for (let attempt = 1; attempt <= 3; attempt++) {
    try {
      return await options.approvals.settle(turn.approval, turn.run, result);
    } catch {
      if (attempt < 3) await pause(attempt * 200);
    }
  }
}

function reportOf(begun: BegunApproval, locale: string, calls: readonly CallRecord[]): ApprovalReport | undefined {
  const words = approvalWords(locale);
  switch (begun.kind) {
    case "ended": {
      const { call, result } = begun;
      const text = words[result.status](call.shown);
      return { text, calls, messages: remembered(call, text, result) };
    }
    case "rejected":
    case "expired": {
      const text = words[begun.kind](begun.call.shown);
      return { text, calls, messages: remembered(begun.call, text) };
    }
    default:
      return undefined;
  }
}

/** What the model is reminded of: nobody wrote it, and it says so. */
function remembered(call: DecidedCall, text: string, result?: ExecutionResult): readonly ModelMessage[] {
  const asked: ModelMessage = {
    role: "user",
    content: `(From the runtime, not from the person: the call of ${call.tool} that waited for a reviewer was decided.)`,
  };
  const said: ModelMessage = { role: "assistant", content: text };
  if (result === undefined) return [asked, said];
  const id = digestId("call-", call.id);
  const content = result.content === "" ? JSON.stringify({ status: result.status }) : result.content;
  return [
    asked,
    { role: "assistant", content: "", calls: [{ id, tool: call.tool, argumentsText: call.args }] },
    { role: "tool", callId: id, tool: call.tool, content },
    said,
  ];
}

/** The calls that a run has parked, as they are kept and shown. */
export function parkedRecords(
  calls: readonly ParkedCall[],
  where: {
    readonly style: Pick<NoticeStyle, "locale" | "formattingMarks">;
    /** When the person's message arrived: their yes, where one of the calls is gated as well. */
    readonly receivedAt: number;
  },
): readonly ParkedRecord[] {
  return calls.map((call) => ({
    id: call.id,
    agent: call.agent,
    tool: call.tool,
    fingerprint: call.fingerprint,
    args: call.canonical,
    shown: wordCall(call, where.style),
    ...(call.proposal === undefined ? {} : { consent: { proposal: call.proposal, at: where.receivedAt } }),
  }));
}

/** The runtime's own word to the person that a call waits for somebody else. */
export function withParked(text: string, parked: readonly ParkedRecord[], locale: string): string {
  const words = approvalWords(locale);
  return [text, ...parked.map(({ shown }) => words.asked(shown))].filter((each) => each.trim() !== "").join("\n\n");
}
