import type { RunRequest, RunResult, WorkflowResult } from "../agents/runtime/index.js";
import type { ConnectionOverrides } from "../agents/tools/index.js";
import type { Address, ChannelLogger } from "../channels/index.js";
import { DaleError, isRetryable } from "../errors/index.js";
import { reports } from "../gate/index.js";
import type { OutboundPart } from "../outbound/index.js";
import type { QueueJob, RunningJob } from "../queue/index.js";
import { type ApprovalTurnOptions, abandonApproval, performApproval } from "./approval-turn.js";
import type { Decision, DeskTurn, GateDesk } from "./gate-desk.js";
import { type Incoming, incomingOf } from "./incoming.js";
import type { Perception } from "./perception.js";
import type { ConversationMemory, TurnApprovals, TurnRecord, TurnRequest, TurnStore } from "./ports.js";
import type { Presence, TurnAgent, TurnChannel } from "./turn-context.js";
import { createTurnRecords, type TurnResult } from "./turn-records.js";

export interface TurnWorkerOptions {
  readonly turns: TurnStore;
  readonly memory: ConversationMemory;
  readonly desk: GateDesk;
  readonly agentOf: (name: string) => TurnAgent | undefined;
  readonly channelOf: (address: Address) => TurnChannel;
  readonly perception: Perception;
  readonly run: (agent: string, request: RunRequest) => Promise<RunResult>;
  readonly runWorkflow: (workflow: string, request: RunRequest) => Promise<WorkflowResult>;
  /** Durable, idempotent by the part's id. */
  readonly enqueue: (part: OutboundPart) => Promise<void>;
  /** Hands a turn's propuestas to the agent's webhook; durable, idempotent by the turn. */
  readonly deliverPropuestas: (record: TurnRecord) => Promise<void>;
  /** Calls that somebody else approves. */
  readonly approvals: TurnApprovals;
  /** Makes a call that a reviewer has approved. Never rejects. */
  readonly perform: ApprovalTurnOptions["perform"];
  /** Tells whoever waits for this turn that its record is there. Best effort. */
  readonly announce: (turn: string) => Promise<void>;
  /** Per-run credentials that were sealed away when the run was asked for. */
  readonly connectionsOf: (handle: string | undefined) => Promise<ConnectionOverrides>;
  /** Forgets them: the turn is over. */
  readonly forgetConnections: (handle: string) => Promise<void>;
  /** Where no agent says it. */
  readonly locale: string;
  readonly presence: Presence;
  readonly logger: ChannelLogger;
  readonly now: () => number;
}

export interface TurnWorker {
  process(job: RunningJob<TurnRequest>): Promise<void>;
  /** A turn that failed for good: the person is told the truth in one sentence. */
  dead(job: QueueJob<TurnRequest>, reason: string): Promise<void>;
}

/** Larger than any fence: what a dead turn leaves is settled after all of its runs. */
const lastFence = Number.MAX_SAFE_INTEGER;

export function createTurnWorker(options: TurnWorkerOptions): TurnWorker {
  const { turns, desk, now, logger } = options;
  const records = createTurnRecords(options);

  async function process(job: RunningJob<TurnRequest>): Promise<void> {
    const incoming = incomingOf(job.id, job.data, options.channelOf);
    const log = { session: turns.opaque(incoming.session), turn: job.id, attempt: job.attempt };
    const done = await turns.read(job.id, job.fence);
    if (done) return finish(incoming, done, true);
    const startedAt = now();
    if (incoming.message) options.presence.taken(incoming.address, incoming.message.id);
    const turn = deskTurn(incoming, job.fence, job.signal);
    const typing = incoming.message ? options.presence.typing(incoming.address) : undefined;
    try {
      const decision = await desk.decide(turn, incoming.facts);
      if (incoming.approval !== undefined) return await decided(job, incoming, incoming.approval, decision, startedAt);
      const { outcome } = decision;
      if (outcome.kind === "unseen" && outcome.again) {
        const record = records.shownAgain(incoming, outcome.proposal, startedAt);
        return await commit(incoming, record, undefined, job.fence, true);
      }
      await answer(job, incoming, turn, decision, startedAt);
    } catch (error) {
      if (job.signal.aborted) throw new DaleError("turn_aborted", "This run lost its turn.", { cause: error });
      logger.warn({ ...log, code: codeOf(error) }, "turn failed");
      if (job.lastAttempt || isRetryable(error)) throw error;
      await apologise(incoming, codeOf(error), startedAt, job.fence);
    } finally {
      typing?.stop();
    }
  }

  async function answer(
    job: RunningJob<TurnRequest>,
    arrived: Incoming,
    turn: DeskTurn,
    decision: Decision,
    startedAt: number,
  ): Promise<void> {
    const agent = agentFor(arrived);
    // What the person said is judged by now, as it was sent: what is heard in it only asks the agent.
    const perceived = arrived.message
      ? await options.perception.perceive(arrived.message, agent.seesImages, job.signal)
      : { query: arrived.query, images: [] };
    const incoming: Incoming = { ...arrived, query: perceived.query };
    const opened = desk.open(turn, decision, incoming.audience(agent.locale), agent.resume);
    const [history, connections] = await Promise.all([
      options.memory.load(incoming.session, incoming.agent, agent.memory.maxTurns),
      options.connectionsOf(incoming.secrets),
    ]);
    const run = incoming.target === "workflow" ? options.runWorkflow : options.run;
    const result: TurnResult = await run(incoming.agent, {
      query: incoming.query,
      ...(perceived.images.length > 0 ? { images: perceived.images } : {}),
      session: incoming.session,
      turn: job.id,
      desdeHumano: incoming.facts !== undefined,
      history,
      connections,
      gate: opened.gate,
      takesPropuestas: incoming.address.channel === "api" || agent.proposalsWebhook,
      signal: job.signal,
    });
    const record = records.answered(incoming, agent.locale, { decision, pending: opened.pending(), result }, startedAt);
    const remember = {
      messages: result.messages,
      maxTurns: agent.memory.maxTurns,
      ttlSeconds: agent.memory.ttlSeconds,
    };
    await commit(incoming, record, remember, job.fence, opened.touched());
  }

  /** A reviewer's decision: the stored call runs, or not, and the person is told. No agent runs. */
  async function decided(
    job: RunningJob<TurnRequest>,
    incoming: Incoming,
    approval: string,
    { interrupted }: Decision,
    startedAt: number,
  ): Promise<void> {
    const locale = localeOf(incoming);
    const run = { turn: job.id, fence: job.fence };
    const { session } = incoming;
    const nothing = { text: "", calls: [], messages: [] };
    const told = await performApproval(options, { approval, session, run, locale, signal: job.signal });
    if (told === undefined && interrupted === undefined) return await options.announce(job.id);
    const report = told ?? nothing;
    const text = [...(interrupted ? [reports(locale).unknown(interrupted.proposal.tool)] : []), report.text]
      .filter((each) => each !== "")
      .join("\n\n");
    const memory = options.agentOf(incoming.agent)?.memory;
    const remember = memory && { messages: report.messages, ...memory };
    await commit(
      incoming,
      records.approval(incoming, approval, { ...report, text }, startedAt),
      remember,
      job.fence,
      true,
    );
  }

  /** Writes the turn's one record; whichever run was first, its record is what gets sent. */
  async function commit(
    incoming: Incoming,
    record: TurnRecord,
    remember: Parameters<TurnStore["commit"]>[1],
    fence: number,
    touched: boolean,
  ): Promise<void> {
    const committed = await turns.commit(record, remember, fence);
    if (committed === "fenced") throw new DaleError("turn_aborted", "A later run owns this turn.");
    const standing = committed === "already" ? await turns.read(record.id) : record;
    await finish(incoming, standing ?? record, touched || committed === "already");
  }

  /** Everything after the commit may be repeated: parts are enqueued once by their ids, a slot is closed once. */
  async function finish(incoming: Incoming, record: TurnRecord, touched: boolean): Promise<void> {
    if (incoming.address.channel !== "api") for (const part of record.parts) await options.enqueue(part);
    if (record.propuestas.length > 0) await options.deliverPropuestas(record);
    if (record.parked !== undefined) {
      await options.approvals.request(record, { address: incoming.address, group: incoming.group });
    }
    if (touched) {
      const turn = deskTurn(incoming, lastFence, new AbortController().signal);
      await desk.close(turn, record.outcome === "failed");
    }
    if (incoming.secrets !== undefined) await options.forgetConnections(incoming.secrets);
    await options.announce(record.id);
  }

  async function dead(job: QueueJob<TurnRequest>, reason: string): Promise<void> {
    const incoming = incomingOf(job.id, job.data, options.channelOf);
    const done = await turns.read(job.id);
    if (done) return finish(incoming, done, true);
    logger.error({ session: turns.opaque(incoming.session), turn: job.id }, "turn given up");
    await apologise(incoming, reason, now(), lastFence);
  }

  /** One honest sentence instead of an answer; it says so when something was executed, or may have been. */
  async function apologise(incoming: Incoming, code: string, startedAt: number, fence: number): Promise<void> {
    if (incoming.approval !== undefined) {
      const report = await abandonApproval(options, incoming.approval, localeOf(incoming));
      if (report === undefined) return;
      const record = records.approval(incoming, incoming.approval, report, startedAt);
      return await commit(incoming, { ...record, error: code }, undefined, fence, true);
    }
    // As a run after all others: an execution that this very run left open is unknown, and the person is told so.
    const left = await desk.leftBy(deskTurn(incoming, lastFence, new AbortController().signal));
    const locale = localeOf(incoming);
    const text = left ? reports(locale)[left.status](left.proposal.tool) : reports(locale).apology;
    const record = records.failed(incoming, { text, code, about: left?.proposal.id }, startedAt);
    await commit(incoming, record, undefined, fence, true);
  }

  /** Also for a turn whose agent is gone: somebody has to be told. */
  function localeOf(incoming: Incoming): string {
    return options.agentOf(incoming.agent)?.locale ?? options.locale;
  }

  function agentFor(incoming: Incoming): TurnAgent {
    const agent = incoming.target === "workflow" ? forgetful(options.locale) : options.agentOf(incoming.agent);
    if (!agent) throw new DaleError("agent_unknown", `No agent named ${incoming.agent} is loaded.`);
    return agent;
  }

  function deskTurn(incoming: Incoming, fence: number, signal: AbortSignal): DeskTurn {
    return {
      session: incoming.session,
      run: { turn: incoming.turn, fence },
      rule: options.channelOf(incoming.address).rule(localeOf(incoming)),
      chat: incoming.chat,
      signal,
    };
  }

  return { process, dead };
}

/** A workflow remembers no conversation, and proposes nothing to anybody. */
function forgetful(locale: string): TurnAgent {
  return {
    locale,
    resume: "runtime",
    memory: { maxTurns: 0, ttlSeconds: 0 },
    seesImages: false,
    proposalsWebhook: false,
  };
}

function codeOf(error: unknown): string {
  return error instanceof DaleError ? error.code : "unexpected";
}
