import type { EvidenceEntry } from "../evidence/index.js";
import type { Delivery } from "../outbound/index.js";
import type { TurnRecord } from "../turns/index.js";

/** One line of a conversation's story, oldest first: message → turn → calls → proposal → notice → consent → execution. */
export interface TimelineItem {
  /** Ms since 1970. */
  readonly at: number;
  readonly kind: "message" | "call" | "answer" | "delivery" | "evidence";
  readonly turn: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Where two things happened in the same millisecond, in the order in which they follow from each other. */
const rank = { message: 0, evidence: 1, call: 2, answer: 3, delivery: 4 } as const;

export function timeline(
  turns: readonly TurnRecord[],
  deliveries: readonly Delivery[],
  evidence: readonly EvidenceEntry[],
): readonly TimelineItem[] {
  const items = [...turns.flatMap(itemsOfTurn), ...deliveries.map(itemOfDelivery), ...evidence.map(itemOfEvidence)];
  return items.sort((a, b) => a.at - b.at || rank[a.kind] - rank[b.kind]);
}

/** Without the arguments themselves: the notice shows them, and an export has them. */
function itemOfEvidence({ at, turn = "", type, proposal, tool, argsHash, detail }: EvidenceEntry): TimelineItem {
  const { args: _args, ...told } = detail;
  return { at, kind: "evidence", turn, detail: { type, proposal, tool, args_hash: argsHash, ...told } };
}

function itemsOfTurn(turn: TurnRecord): readonly TimelineItem[] {
  const of = (at: number, kind: TimelineItem["kind"], detail: TimelineItem["detail"]): TimelineItem => ({
    at,
    kind,
    turn: turn.id,
    detail,
  });
  return [
    of(turn.receivedAt, "message", { text: turn.query, origin: turn.origin, desde_humano: turn.desdeHumano }),
    ...turn.calls.map(({ startedAt, ...call }) =>
      of(startedAt, "call", {
        tool: call.tool,
        args_hash: call.argsHash,
        outcome: call.outcome,
        ms: call.ms,
        ...optional(call),
      }),
    ),
    of(turn.finishedAt, "answer", {
      text: turn.answer,
      outcome: turn.outcome,
      decision: turn.decision,
      ms: turn.finishedAt - turn.startedAt,
      ...(turn.pending === undefined ? {} : { pending: turn.pending }),
      ...(turn.error === undefined ? {} : { error: turn.error }),
    }),
  ];
}

function optional(call: { readonly via?: readonly string[]; readonly code?: string }) {
  return { ...(call.via ? { via: call.via } : {}), ...(call.code === undefined ? {} : { code: call.code }) };
}

function itemOfDelivery(delivery: Delivery): TimelineItem {
  return {
    at: delivery.times[delivery.state] ?? 0,
    kind: "delivery",
    turn: delivery.turn,
    detail: deliveryJson(delivery),
  };
}

/** A delivery as the API shows it. */
export function deliveryJson(delivery: Delivery) {
  return {
    part: delivery.part,
    session: delivery.session,
    turn: delivery.turn,
    channel: delivery.channel,
    account: delivery.account,
    index: delivery.index,
    of: delivery.of,
    state: delivery.state,
    attempts: delivery.attempts,
    times: Object.fromEntries(Object.entries(delivery.times).map(([state, at]) => [state, new Date(at).toISOString()])),
    ...(delivery.notice === undefined ? {} : { notice: delivery.notice }),
    ...(delivery.code === undefined ? {} : { code: delivery.code }),
    ...(delivery.reason === undefined ? {} : { reason: delivery.reason }),
  };
}
