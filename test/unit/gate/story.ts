import {
  type ConsentRule,
  defaultWords,
  type EvidenceDraft,
  emptySlot,
  type HumanMessage,
  humanFacts,
  type NoticeLevel,
  type OutcomeOf,
  type PersonMessage,
  type Proposal,
  type RunId,
  reduce,
  type Slot,
  type SlotEvent,
} from "../../../src/gate/index.js";

export const ttl = 600_000;

export function proposalOf(id: string, changes: Partial<Proposal> = {}): Proposal {
  const proposedAt = changes.proposedAt ?? 1_000;
  return {
    id,
    agent: "cobranzas",
    tool: "praxis_crear_record",
    fingerprint: `fp-${id}`,
    args: `{"id":"${id}"}`,
    notice: `Para confirmar respondé SI. Voy a ejecutar: ${id}`,
    turn: "t-1",
    proposedAt,
    expiresAt: proposedAt + ttl,
    ...changes,
  };
}

export function runOf(turn: string, fence: number): RunId {
  return { turn, fence };
}

export const rule: ConsentRule = { words: defaultWords("es-AR"), tolerate: [], level: "accepted", showAgainLimit: 3 };

export interface Saying extends Partial<PersonMessage> {
  readonly level?: NoticeLevel;
  readonly showAgainLimit?: number;
  readonly fence?: number;
  readonly at?: number;
}

/** A person's message at `time`: typed, and sent and received then, unless told otherwise. */
export function saying(text: string, turn: string, time: number, saying: Saying = {}): HumanMessage {
  const { level, showAgainLimit, fence, at, ...message } = saying;
  return {
    type: "humanMessage",
    run: runOf(turn, fence ?? time),
    facts: humanFacts({
      id: `m-${turn}`,
      text,
      provenance: "typed",
      sentAt: time,
      sentAtResolution: 1,
      receivedAt: time,
      ...message,
    }),
    rule: { ...rule, level: level ?? rule.level, showAgainLimit: showAgainLimit ?? rule.showAgainLimit },
    at: at ?? time,
  };
}

/** A slot, what happened to it, and what was last sent to its chat. */
export class Story {
  slot: Slot = emptySlot;
  lastSent: string | undefined;
  readonly evidence: EvidenceDraft[] = [];

  apply<Type extends SlotEvent["type"]>(event: Extract<SlotEvent, { type: Type }>): OutcomeOf[Type] {
    const transition = reduce(this.slot, event, this.lastSent === undefined ? {} : { lastSent: this.lastSent });
    this.slot = transition.slot;
    this.evidence.push(...transition.evidence);
    return transition.outcome;
  }

  /** What was put on record since the last look. */
  recorded(): string[] {
    return this.evidence.splice(0).map(({ type }) => type);
  }

  propose(proposal: Proposal): OutcomeOf["propose"] {
    return this.apply({ type: "propose", proposal });
  }

  sending(proposal: string, part: string, at: number): OutcomeOf["noticeSending"] {
    this.lastSent = part;
    return this.apply({ type: "noticeSending", proposal, part, at });
  }

  sent(proposal: string, part: string, at: number, more: { sentAt?: number; order?: number } = {}) {
    return this.apply({ type: "noticeSent", proposal, part, ref: `ref-${part}`, at, ...more });
  }

  delivered(proposal: string, part: string, at: number, level: NoticeLevel = "accepted", deliveredAt?: number) {
    return this.apply({
      type: "noticeDelivered",
      proposal,
      part,
      level,
      at,
      ...(deliveredAt === undefined ? {} : { deliveredAt }),
    });
  }

  failed(proposal: string, part: string, at: number, state: "failed" | "unknown" = "failed") {
    return this.apply({ type: "noticeFailed", proposal, part, state, code: "blocked", at });
  }

  /** The notice goes out and is taken: sending, sent, accepted. */
  show(proposal: string, part: string, at: number): void {
    this.sending(proposal, part, at);
    this.sent(proposal, part, at + 10);
    this.delivered(proposal, part, at + 10);
  }
}

/** A proposal of turn t-1 that was shown at 2000 in part-1. */
export function shown(changes: Partial<Proposal> = {}): Story {
  const story = new Story();
  story.apply(saying("cuánto debe 42?", "t-1", 900));
  story.propose(proposalOf("p-1", changes));
  story.show("p-1", "part-1", 2_000);
  story.apply({ type: "endTurn", turn: "t-1", failed: false, at: 2_100 });
  story.evidence.splice(0);
  return story;
}

/** The same, granted by turn t-2 at 3000. */
export function granted(): Story {
  const story = shown();
  story.apply(saying("dale", "t-2", 3_000));
  story.evidence.splice(0);
  return story;
}

export function consuming(run: RunId, at: number, changes: { tool?: string; fingerprint?: string } = {}) {
  return {
    type: "consume",
    tool: changes.tool ?? "praxis_crear_record",
    fingerprint: changes.fingerprint ?? "fp-p-1",
    run,
    at,
  } as const;
}

/** The same, being executed by the granting run (t-2, fence 3000). */
export function executing(): Story {
  const story = granted();
  story.apply(consuming(runOf("t-2", 3_000), 3_001));
  story.evidence.splice(0);
  return story;
}
