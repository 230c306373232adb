import { setTimeout as sleep } from "node:timers/promises";
import type { GatedCall, RunGate } from "../agents/runtime/index.js";
import type { Address } from "../channels/index.js";
import {
  awaitsReceipt,
  type ConsentRule,
  type HumanFacts,
  type HumanOutcome,
  type Interrupted,
  isConfirmation,
  type NoticeStyle,
  type Proposal,
  type RunId,
  type SlotStore,
  wordNotice,
} from "../gate/index.js";

export interface GateDeskOptions {
  readonly slots: SlotStore;
  /** Lifetime of a proposal, ms. */
  readonly ttlMs: number;
  /** How long a yes waits for the receipt of the notice that it answers, ms. */
  readonly receiptWaitMs: number;
  readonly newId: () => string;
  readonly now: () => number;
}

/** What one turn has to do with the gate. */
export interface GateDesk {
  decide(turn: DeskTurn, facts: HumanFacts | undefined): Promise<Decision>;
  /** The runtime's access to the gate, for this run of this turn only. */
  open(turn: DeskTurn, decision: Decision, person: Audience | undefined, resume: "runtime" | "model"): TurnGate;
  /** An execution that this turn began or finished, for a turn that cannot tell of it any more. */
  leftBy(turn: DeskTurn): Promise<{ status: "executed" | "failed" | "unknown"; proposal: Proposal } | undefined>;
  /** @param failed the run raised: what it proposed and nobody was shown is withdrawn */
  close(turn: DeskTurn, failed: boolean): Promise<void>;
}

export interface DeskTurn {
  readonly session: string;
  readonly run: RunId;
  readonly rule: ConsentRule;
  /** `<channel>:<account>:<chat>`: where the store looks up what was last sent. */
  readonly chat: string;
  readonly signal: AbortSignal;
}

export interface Decision {
  readonly outcome: HumanOutcome;
  readonly interrupted?: Interrupted;
}

/** Who will be shown a notice, and how it must look there. Absent when a run has nobody to show one to. */
export interface Audience {
  readonly style: NoticeStyle;
}

/** `touched` once this run has changed the slot: only then is there something to close. */
export interface TurnGate {
  readonly gate: RunGate;
  readonly touched: () => boolean;
  readonly pending: () => Proposal | undefined;
}

const pollMs = 50;

export function createGateDesk(options: GateDeskOptions): GateDesk {
  const { slots, now } = options;

  /** Gives the receipt of a notice that is on its way the time that the rule allows; only a plain yes waits. */
  async function waitForReceipt(turn: DeskTurn, facts: HumanFacts): Promise<void> {
    if (facts.words === null || !isConfirmation(facts.words, turn.rule.words, turn.rule.tolerate)) return;
    const until = now() + options.receiptWaitMs;
    while (now() < until && !turn.signal.aborted) {
      const slot = await slots.read(turn.session);
      if (!awaitsReceipt(slot, { type: "humanMessage", run: turn.run, facts, rule: turn.rule, at: now() })) return;
      await sleep(pollMs, undefined, { signal: turn.signal });
    }
  }

  return {
    async decide(turn, facts) {
      if (!facts) {
        const begun = await slots.apply(turn.session, { type: "turnBegins", run: turn.run, at: now() });
        return { outcome: { kind: "none" }, ...interruption(begun.interrupted) };
      }
      await waitForReceipt(turn, facts);
      const event = { type: "humanMessage", run: turn.run, facts, rule: turn.rule, at: now() } as const;
      const { interrupted, ...outcome } = await slots.apply<"humanMessage">(turn.session, event, turn.chat);
      return { outcome, ...interruption(interrupted) };
    },

    open(turn, decision, person, resume) {
      let touched = decision.outcome.kind !== "none" || decision.interrupted !== undefined;
      let pending: Proposal | undefined;

      async function propose(call: GatedCall): ReturnType<RunGate["propose"]> {
        if (!person) return { kind: "refused", reason: "nobody" };
        const notice = wordNotice(call, person.style);
        if (!notice.ok) return { kind: "refused", reason: "too_long" };
        const at = now();
        const proposal: Proposal = {
          id: options.newId(),
          agent: call.agent,
          tool: call.tool,
          fingerprint: call.fingerprint,
          args: call.canonical,
          notice: notice.text,
          turn: turn.run.turn,
          proposedAt: at,
          expiresAt: at + options.ttlMs,
        };
        touched = true;
        const outcome = await slots.apply(turn.session, { type: "propose", proposal });
        if (outcome.kind === "proposed" || outcome.kind === "repeated") pending = outcome.proposal;
        return outcome;
      }

      const gate: RunGate = {
        resume,
        ...(person ? { decision: decision.outcome } : {}),
        ...interruption(decision.interrupted),
        propose,
        async consume(tool, fingerprint) {
          const event = { type: "consume", tool, fingerprint, run: turn.run, at: now() } as const;
          const outcome = await slots.apply(turn.session, event);
          if (outcome.kind !== "refused") touched = true;
          return outcome;
        },
        async settle(proposal, result) {
          await slots.apply(turn.session, { type: "settle", proposal, run: turn.run, result, at: now() });
        },
      };
      return { gate, touched: () => touched, pending: () => pending };
    },

    async leftBy(turn) {
      const { interrupted } = await slots.apply(turn.session, { type: "turnBegins", run: turn.run, at: now() });
      if (interrupted) return { status: "unknown", proposal: interrupted.proposal };
      const { executed } = await slots.read(turn.session);
      if (executed?.grant.turn !== turn.run.turn) return undefined;
      // Parked, but the turn never came to the point where it asks the reviewers: nothing can run it any more.
      const status = executed.result.status === "parked" ? "failed" : executed.result.status;
      return { status, proposal: executed.proposal };
    },

    async close(turn, failed) {
      await slots.apply(turn.session, { type: "endTurn", turn: turn.run.turn, failed, at: now() });
    },
  };
}

/** The key of a chat's last sent part. */
export function chatOf(address: Address): string {
  return `${address.channel}:${address.account}:${address.chat}`;
}

function interruption(interrupted: Interrupted | undefined): { interrupted?: Interrupted } {
  return interrupted ? { interrupted } : {};
}
