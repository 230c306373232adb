import { type HumanFacts, isConfirmation } from "./consent.js";
import { empty, lapses, record } from "./proposal.js";
import { reached } from "./showing.js";
import type {
  ConsentRule,
  EvidenceDraft,
  HumanMessage,
  HumanOutcome,
  Showing,
  Slot,
  SlotState,
  Surroundings,
  UnseenReason,
} from "./slot.js";

type Pending = Extract<SlotState, { state: "pending" }>;

interface Judgement {
  readonly current: SlotState;
  readonly outcome: HumanOutcome;
  readonly evidence: readonly EvidenceDraft[];
}

/** Characters of a message that go on record. */
const recordedWords = 2000;

/** What a person's message means for the proposal that waits: the whole of consent. */
export function judge(pending: Pending, event: HumanMessage, surroundings: Surroundings): Judgement {
  const { proposal } = pending;
  const { facts, rule, run, at } = event;
  const { message, words, sentAt, receivedAt } = facts;
  const heard = {
    message,
    ...(words === null ? {} : { words: words.slice(0, recordedWords) }),
    quoted: facts.quotes !== undefined,
    sentAt,
    receivedAt,
  };
  const said = (type: EvidenceDraft["type"], detail: EvidenceDraft["detail"]) =>
    record(type, proposal, at, { ...heard, ...detail }, run.turn);
  if (lapses(proposal, at)) {
    return { current: empty, outcome: { kind: "expired", proposal }, evidence: [said("expired", {})] };
  }
  const verdict = read(pending, facts, rule, surroundings);
  switch (verdict.kind) {
    case "other":
      return {
        current: empty,
        outcome: { kind: "discarded", proposal },
        evidence: [said("discarded", { reason: verdict.reason })],
      };
    case "unseen": {
      const { reason } = verdict;
      const again = pending.reshown < rule.showAgainLimit;
      const evidence = [said("unseen", { reason, again })];
      if (!again) evidence.push(said("discarded", { reason: "shown_too_often" }));
      return {
        current: again ? { ...pending, reshown: pending.reshown + 1 } : empty,
        outcome: { kind: "unseen", proposal, reason, again },
        evidence,
      };
    }
    case "yes":
      return {
        current: { state: "granted", proposal, grant: { turn: run.turn, message: facts.message, at } },
        outcome: { kind: "granted", proposal },
        evidence: [said("granted", { part: verdict.showing.part })],
      };
  }
}

type Verdict =
  | { readonly kind: "yes"; readonly showing: Showing }
  | { readonly kind: "unseen"; readonly reason: UnseenReason }
  | { readonly kind: "other"; readonly reason: "not_typed" | "other_words" | "quotes_other" };

/** One and the same showing has to pass every check: the one that the word answers. */
function read(pending: Pending, facts: HumanFacts, rule: ConsentRule, { lastSent }: Surroundings): Verdict {
  const { words, quotes } = facts;
  if (words === null) return { kind: "other", reason: "not_typed" };
  if (!isConfirmation(words, rule.words, rule.tolerate)) return { kind: "other", reason: "other_words" };
  if (quotes !== undefined) {
    const quoted = pending.showings.filter((showing) => showing.ref === quotes);
    if (quoted.length === 0) return { kind: "other", reason: "quotes_other" };
    const showing = quoted.find((candidate) => typedAfterSending(candidate, facts));
    return showing ? { kind: "yes", showing } : { kind: "unseen", reason: "too_early" };
  }
  if (pending.showings.length === 0) return { kind: "unseen", reason: "not_sent" };
  const answered = pending.showings.filter((showing) => typedAfter(showing, facts, rule));
  if (answered.length === 0) return { kind: "unseen", reason: "too_early" };
  const delivered = answered.filter((showing) => reached(showing, rule.level));
  if (delivered.length === 0) return { kind: "unseen", reason: "not_delivered" };
  const showing = delivered.find(({ part }) => lastSent === part);
  return showing ? { kind: "yes", showing } : { kind: "unseen", reason: "buried" };
}

/** Each clock is compared with itself only: ours with ours, the platform's with the platform's. */
function typedAfterSending(showing: Showing, facts: HumanFacts): boolean {
  return (
    facts.receivedAt >= showing.startedAt &&
    (facts.order === undefined || showing.order === undefined || facts.order > showing.order) &&
    notBefore(facts, showing.sentAt)
  );
}

function typedAfter(showing: Showing, facts: HumanFacts, rule: ConsentRule): boolean {
  return (
    typedAfterSending(showing, facts) &&
    (rule.level === "accepted" || notBefore(facts, showing.deliveredAt)) &&
    (rule.level !== "read" || notBefore(facts, showing.readAt))
  );
}

/** By the platform's clock, as coarse as it is: what happened in the same second may have been in either order. */
function notBefore(facts: HumanFacts, moment: number | undefined): boolean {
  const floor = (time: number) => Math.floor(time / facts.sentAtResolution);
  return moment === undefined || floor(facts.sentAt) >= floor(moment);
}

/**
 * Whether a yes lacks nothing but word from the platform about the notice that it answers: then it is worth a short
 * wait (`gate.receipt_wait`) before it is judged. Decides nothing; without `lastSent` it takes no notice for buried.
 */
export function awaitsReceipt(slot: Slot, event: HumanMessage, surroundings: Surroundings = {}): boolean {
  const { current, decided } = slot;
  const { facts, rule, run, at } = event;
  if (current.state !== "pending" || decided?.turn === run.turn || lapses(current.proposal, at)) return false;
  const { lastSent } = surroundings;
  const outstanding = current.showings.filter(
    (showing) => showing.state !== "failed" && typedAfter(showing, facts, rule),
  );
  const verdict = read(current, facts, rule, surroundings);
  if (verdict.kind === "yes") return false;
  if (verdict.kind === "other") {
    return verdict.reason === "quotes_other" && outstanding.some(({ ref }) => ref === undefined);
  }
  return outstanding.some(
    (showing) => !reached(showing, rule.level) && (lastSent === undefined || lastSent === showing.part),
  );
}
