import { record, unchanged } from "./proposal.js";
import type {
  EvidenceDraft,
  NoticeDelivered,
  NoticeFailed,
  NoticeLevel,
  NoticeSending,
  NoticeSent,
  Showing,
  Slot,
  Transition,
} from "./slot.js";

type Recorded = { readonly kind: "recorded" } | { readonly kind: "stale" };

const ranks = { failed: 0, unknown: 0, sending: 0, sent: 1, accepted: 2, delivered: 3, read: 4 } as const;

export function reached(showing: Showing, level: NoticeLevel): boolean {
  return ranks[showing.state] >= ranks[level];
}

/**
 * A part is handed over again only when the platform surely had not taken it: then what the person can see begins
 * anew, and with it the time from which on a word may answer it.
 */
export function noticeSending(slot: Slot, event: NoticeSending): Transition<Recorded> {
  return change(slot, event, (known) => {
    if (known !== undefined && ranks[known.state] > 0) return undefined;
    return {
      showing: {
        ...known,
        part: event.part,
        state: "sending",
        startedAt: event.at,
        ...(event.ref === undefined ? {} : { ref: event.ref }),
      },
    };
  });
}

/** The platform's answer may come after its receipts: it adds what it knows, and lowers no level. */
export function noticeSent(slot: Slot, event: NoticeSent): Transition<Recorded> {
  return change(slot, event, (known) => {
    const before: Showing = known ?? { part: event.part, state: "sending", startedAt: event.at };
    const taken = before.state === "sending" || before.state === "unknown";
    if (!taken && before.ref === event.ref) return undefined;
    return {
      showing: {
        ...before,
        state: taken ? "sent" : before.state,
        ref: event.ref,
        ...(event.sentAt === undefined ? {} : { sentAt: event.sentAt }),
        ...(event.order === undefined ? {} : { order: event.order }),
      },
      evidence: [
        "notice_sent",
        { part: event.part, ref: event.ref, ...(event.sentAt === undefined ? {} : { sentAt: event.sentAt }) },
      ],
    };
  });
}

/** Of a failed part only a receipt of its arrival is believed; that it was accepted is no news then. */
export function noticeDelivered(slot: Slot, event: NoticeDelivered): Transition<Recorded> {
  return change(slot, event, (known) => {
    if (known === undefined) return "stale";
    const rises = ranks[event.level] > ranks[known.state === "failed" ? "accepted" : known.state];
    const showing: Showing = { ...known, state: rises ? event.level : known.state, ...times(known, event) };
    if (!rises) return showing.deliveredAt === known.deliveredAt ? undefined : { showing };
    return {
      showing,
      evidence: [
        "notice_delivered",
        {
          part: event.part,
          level: event.level,
          ...(event.deliveredAt === undefined ? {} : { deliveredAt: event.deliveredAt }),
        },
      ],
    };
  });
}

/** Read implies delivered; receipts come in any order, and the earliest time of arrival is the true one. */
function times(known: Showing, event: NoticeDelivered): Partial<Showing> {
  if (event.level === "accepted" || event.deliveredAt === undefined) return {};
  const deliveredAt = Math.min(known.deliveredAt ?? event.deliveredAt, event.deliveredAt);
  const readAt = known.readAt ?? (event.level === "read" ? event.deliveredAt : undefined);
  return { deliveredAt, ...(readAt === undefined ? {} : { readAt }) };
}

/** What arrived did not fail, whatever is said later; what the platform took is not unknown. */
export function noticeFailed(slot: Slot, event: NoticeFailed): Transition<Recorded> {
  return change(slot, event, (known) => {
    const settled =
      known &&
      (ranks[known.state] >= ranks.delivered ||
        known.state === "failed" ||
        known.state === event.state ||
        (event.state === "unknown" && ranks[known.state] > 0));
    if (settled) return undefined;
    return {
      showing: { ...(known ?? { part: event.part, startedAt: event.at }), state: event.state },
      evidence: ["notice_failed", { part: event.part, state: event.state, code: event.code }],
    };
  });
}

type Change =
  | { readonly showing: Showing; readonly evidence?: readonly [EvidenceDraft["type"], EvidenceDraft["detail"]] }
  /** Nothing that was not known. */
  | undefined
  | "stale";

function change(
  slot: Slot,
  event: { readonly proposal: string; readonly part: string; readonly at: number },
  next: (known: Showing | undefined) => Change,
): Transition<Recorded> {
  const { current } = slot;
  if (current.state !== "pending" || current.proposal.id !== event.proposal) return unchanged(slot, { kind: "stale" });
  const known = current.showings.find((showing) => showing.part === event.part);
  const changed = next(known);
  if (changed === "stale") return unchanged(slot, { kind: "stale" });
  if (changed === undefined) return unchanged(slot, { kind: "recorded" });
  const showings =
    known === undefined
      ? [...current.showings, changed.showing]
      : current.showings.map((showing) => (showing === known ? changed.showing : showing));
  return {
    slot: { ...slot, current: { ...current, showings } },
    outcome: { kind: "recorded" },
    evidence: changed.evidence ? [record(changed.evidence[0], current.proposal, event.at, changed.evidence[1])] : [],
  };
}
