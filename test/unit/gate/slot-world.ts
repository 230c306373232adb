import {
  awaitsReceipt,
  type ConsentRule,
  defaultWords,
  type EvidenceDraft,
  emptySlot,
  type GrantResult,
  humanFacts,
  type NoticeLevel,
  type Proposal,
  type RunId,
  reduce,
  type Slot,
  type SlotEvent,
} from "../../../src/gate/index.js";

/** What the platform knows of a message that carried a notice; the truth, whatever the slot was told of it. */
interface Sending {
  readonly part: string;
  readonly ref: string;
  readonly proposal: Proposal;
  readonly startedAt: number;
  readonly order: number;
  taken: boolean;
  level: NoticeLevel | "none" | "failed";
}

interface Message {
  readonly turn: string;
  readonly id: string;
  readonly typed: boolean;
  readonly yes: boolean;
  readonly text: string;
  readonly quotes?: string;
  readonly receivedAt: number;
  readonly order: number;
}

/** A run of a turn: one worker that believes it owns the turn. Some are wrong about that. */
interface Run extends RunId {
  readonly message?: Message;
  begun: boolean;
  holds?: Proposal;
}

const levels: readonly NoticeLevel[] = ["accepted", "delivered", "read"];

/**
 * One session and everybody who acts on it at the same time: the person, the platform, the sender, workers that crash
 * and zombies that do not know they were replaced. It keeps its own books, and checks the slot against them.
 */
export class World {
  slot: Slot = emptySlot;
  now = 1_000;
  readonly rule: ConsentRule;
  readonly evidence: EvidenceDraft[] = [];
  readonly proposals = new Map<string, Proposal>();
  readonly sendings: Sending[] = [];
  readonly messages = new Map<string, Message>();
  readonly inbox: Message[] = [];
  readonly runs: Run[] = [];
  readonly executions: { readonly proposal: Proposal; readonly grant: string }[] = [];
  lastSent: string | undefined;
  private order = 0;
  private fence = 0;

  constructor(level: NoticeLevel) {
    this.rule = { words: defaultWords("es-AR"), tolerate: [], level, showAgainLimit: 2 };
  }

  private apply<Type extends SlotEvent["type"]>(event: Extract<SlotEvent, { type: Type }>) {
    const surroundings = this.lastSent === undefined ? {} : { lastSent: this.lastSent };
    const before = structuredClone(this.slot);
    const transition = reduce(this.slot, event, surroundings);
    must(JSON.stringify(before) === JSON.stringify(this.slot), "the slot it was given is left as it was");
    if (transition.slot === this.slot && transition.evidence.length > 0) {
      must(event.type === "settle", "only a late result goes on record without a change");
    }
    // What a store does: it keeps JSON.
    this.slot = JSON.parse(JSON.stringify(transition.slot)) as Slot;
    this.evidence.push(...transition.evidence);
    return transition.outcome;
  }

  tick(ms: number): void {
    this.now += ms;
  }

  // --- the person and the platform --------------------------------------------------------------------------------

  says(kind: "yes" | "no" | "caption", quoting: "nothing" | "notice" | "other"): void {
    const turn = `t-${this.messages.size + 1}`;
    const seen = this.sendings.filter(({ level }) => level !== "none" && level !== "failed").at(-1);
    const quotes = quoting === "notice" ? seen?.ref : quoting === "other" ? "ref-something" : undefined;
    const message: Message = {
      turn,
      id: `m-${turn}`,
      typed: kind !== "caption",
      yes: kind !== "no",
      text: kind === "no" ? "bueno dale pero cambiame la cantidad" : "Dale",
      ...(quotes === undefined ? {} : { quotes }),
      receivedAt: this.now,
      order: ++this.order,
    };
    this.messages.set(message.id, message);
    this.inbox.push(message);
  }

  receipt(pick: number, level: NoticeLevel | "failed"): void {
    const sending = this.sendings[pick % this.sendings.length];
    if (!sending?.taken) return;
    const proposal = sending.proposal.id;
    const { part } = sending;
    const at = this.now;
    if (level === "failed") {
      if (sending.level === "delivered" || sending.level === "read") return;
      sending.level = "failed";
      this.apply({ type: "noticeFailed", proposal, part, state: "failed", code: "x", at });
      return;
    }
    if (sending.level === "failed") return;
    if (sending.level === "none" || levels.indexOf(level) > levels.indexOf(sending.level)) sending.level = level;
    this.apply({ type: "noticeDelivered", proposal, part, level, deliveredAt: at, at });
  }

  // --- the sender -------------------------------------------------------------------------------------------------

  /** Hands a notice over: the waiting one, or a stale one that was still in the queue. */
  sends(stale: boolean): void {
    const waiting = this.slot.current.state === "pending" ? this.slot.current.proposal : undefined;
    const proposal = stale ? [...this.proposals.values()].at(0) : waiting;
    if (!proposal) return;
    const part = `part-${this.sendings.length + 1}`;
    const outcome = this.apply({ type: "noticeSending", proposal: proposal.id, part, at: this.now });
    if (outcome.kind === "stale") return;
    this.lastSent = part;
    this.sendings.push({
      part,
      ref: `ref-${part}`,
      proposal,
      startedAt: this.now,
      order: ++this.order,
      taken: false,
      level: "none",
    });
  }

  takes(pick: number, unknown: boolean): void {
    const sending = this.sendings[pick % this.sendings.length];
    if (!sending) return;
    const event = { proposal: sending.proposal.id, part: sending.part, at: this.now };
    if (unknown && !sending.taken) this.apply({ type: "noticeFailed", ...event, state: "unknown", code: "x" });
    else {
      sending.taken = true;
      this.apply({ type: "noticeSent", ...event, ref: sending.ref, order: sending.order, sentAt: sending.startedAt });
    }
  }

  buries(): void {
    this.order++;
    this.lastSent = `other-${this.order}`;
  }

  // --- the workers ------------------------------------------------------------------------------------------------

  /** The next turn's job is taken, or the same one again: its worker is dead, or only believed to be. */
  takesJob(): void {
    const message = this.inbox[0];
    if (message) this.runs.push({ turn: message.turn, fence: ++this.fence, message, begun: false });
  }

  takesScheduledJob(): void {
    this.runs.push({ turn: `t-scheduled-${this.fence + 1}`, fence: ++this.fence, begun: false });
  }

  private run(pick: number): Run | undefined {
    return this.runs[pick % this.runs.length];
  }

  begins(pick: number): void {
    const run = this.run(pick);
    if (!run) return;
    run.begun = true;
    const { message } = run;
    if (!message) {
      const outcome = this.apply({ type: "turnBegins", run: id(run), at: this.now });
      must(outcome.kind === "none", "a run that no person wrote decides nothing");
      return;
    }
    const before = this.slot.current;
    const event = {
      type: "humanMessage",
      run: id(run),
      facts: humanFacts({
        id: message.id,
        text: message.text,
        provenance: message.typed ? "typed" : "caption",
        ...(message.quotes === undefined ? {} : { quotes: message.quotes }),
        sentAt: message.receivedAt,
        sentAtResolution: 1,
        receivedAt: message.receivedAt,
        order: message.order,
      }),
      rule: this.rule,
      at: this.now,
    } as const;
    const surroundings = this.lastSent === undefined ? {} : { lastSent: this.lastSent };
    const waits = awaitsReceipt(this.slot, event, surroundings);
    const outcome = this.apply(event);
    if (this.slot.current.state === "granted" && before.state === "pending") this.checkGrant(before.proposal, message);
    if (waits) must(outcome.kind === "unseen" || outcome.kind === "discarded", "what waits is not granted yet");
  }

  proposes(pick: number, call: number): void {
    const run = this.run(pick);
    if (!run?.begun || !run.message) return;
    const proposal: Proposal = {
      id: `p-${this.proposals.size + 1}`,
      agent: "a",
      tool: "tool",
      fingerprint: `fp-${call}`,
      args: `{"call":${call}}`,
      notice: `call ${call}`,
      turn: run.turn,
      proposedAt: this.now,
      expiresAt: this.now + 300,
    };
    this.proposals.set(proposal.id, proposal);
    this.apply({ type: "propose", proposal });
  }

  consumes(pick: number, call: number): void {
    const run = this.run(pick);
    if (!run?.begun) return;
    const granted = this.slot.current;
    const outcome = this.apply({
      type: "consume",
      tool: "tool",
      fingerprint: `fp-${call}`,
      run: id(run),
      at: this.now,
    });
    if (outcome.kind !== "run") return;
    must(granted.state === "granted", "only a grant is used up");
    run.holds = outcome.proposal;
    this.checkExecution(outcome.proposal, outcome.grant.message, call);
    this.executions.push({ proposal: outcome.proposal, grant: outcome.grant.message });
  }

  settles(pick: number, status: GrantResult["status"]): void {
    const run = this.run(pick);
    if (!run?.holds) return;
    const result: GrantResult =
      status === "parked" ? { status, content: status, approval: "apr-1" } : { status, content: status };
    this.apply({ type: "settle", proposal: run.holds.id, run: id(run), result, at: this.now });
    delete run.holds;
  }

  ends(pick: number, failed: boolean): void {
    const run = this.run(pick);
    if (!run?.begun) return;
    this.apply({ type: "endTurn", turn: run.turn, failed, at: this.now });
    if (this.inbox[0] === run.message) this.inbox.shift();
    this.runs.splice(this.runs.indexOf(run), 1);
  }

  crashes(pick: number): void {
    if (this.runs.length > 0) this.runs.splice(pick % this.runs.length, 1);
  }

  expires(): void {
    this.apply({ type: "expire", at: this.now });
  }

  // --- the rules, said once more ------------------------------------------------------------------------------------

  private checkGrant(proposal: Proposal, message: Message): void {
    must(message.typed && message.yes, "only a typed yes grants");
    must(message.turn !== proposal.turn, "a message cannot grant what was proposed in answer to it");
    must(this.now < proposal.expiresAt, "nothing is granted after its time");
    const answered = this.sendings.filter(
      (sending) =>
        sending.proposal.id === proposal.id &&
        sending.startedAt <= message.receivedAt &&
        sending.order < message.order &&
        (message.quotes === undefined ? this.arrivedLast(sending) : sending.ref === message.quotes),
    );
    must(answered.length > 0, "a yes answers a notice that arrived before it and was the last thing sent");
  }

  private arrivedLast({ level, part }: Sending): boolean {
    return (
      level !== "none" &&
      level !== "failed" &&
      levels.indexOf(level) >= levels.indexOf(this.rule.level) &&
      part === this.lastSent
    );
  }

  private checkExecution(proposal: Proposal, grant: string, call: number): void {
    const shown = this.proposals.get(proposal.id);
    must(JSON.stringify(shown) === JSON.stringify(proposal), "what runs is what was proposed, byte for byte");
    must(proposal.fingerprint === `fp-${call}`, "what runs is what was asked for");
    must(proposal.notice === `call ${call}`, "what runs is what was shown");
    must(
      this.sendings.some((sending) => sending.proposal.id === proposal.id),
      "what runs was shown",
    );
    const message = this.messages.get(grant);
    must(message?.typed === true && message.yes, "what runs was said yes to");
    must(this.now < proposal.expiresAt, "nothing begins to run after its time");
    must(!this.executions.some((execution) => execution.proposal.id === proposal.id), "no proposal runs twice");
    must(!this.executions.some((execution) => execution.grant === grant), "no yes lets two calls run");
  }

  /** At any moment. */
  check(): void {
    const { current } = this.slot;
    if (current.state === "pending")
      must(current.reshown <= this.rule.showAgainLimit, "shown again three times at most");
    for (const proposal of this.proposals.keys()) {
      const types = this.evidence.filter((entry) => entry.proposal === proposal).map(({ type }) => type);
      const count = (...some: readonly EvidenceDraft["type"][]) => types.filter((type) => some.includes(type)).length;
      must(count("proposed") <= 1, "proposed once");
      must(count("granted") <= 1, "granted once");
      must(count("consumed") <= count("granted"), "consumed only after a grant, and once");
      must(count("executed", "failed", "parked") <= count("consumed"), "one result for one execution");
      must(count("discarded", "withdrawn", "expired") <= 1, "closed once");
      must(count("consumed") + count("discarded", "withdrawn", "expired") <= 1, "what was closed never ran");
      const live = current.state !== "empty" && current.proposal.id === proposal;
      const closed = count("discarded", "withdrawn", "expired", "executed", "failed", "parked", "unknown") > 0;
      if (types.length > 0) must(live !== closed, "a proposal waits or its end is on record, never both");
    }
  }
}

function id({ turn, fence }: RunId): RunId {
  return { turn, fence };
}

function must(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(`broken: ${rule}`);
}
