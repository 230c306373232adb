import { consume, settle } from "./execution.js";
import { expire, propose } from "./proposal.js";
import { noticeDelivered, noticeFailed, noticeSending, noticeSent } from "./showing.js";
import type { OutcomeOf, Slot, SlotEvent, Surroundings, Transition } from "./slot.js";
import { beginTurn, endTurn, humanMessage, retract } from "./turn.js";

type EventOf<Type extends SlotEvent["type"]> = Extract<SlotEvent, { type: Type }>;

const transitions: {
  readonly [Type in SlotEvent["type"]]: (
    slot: Slot,
    event: EventOf<Type>,
    surroundings: Surroundings,
  ) => Transition<OutcomeOf[Type]>;
} = {
  propose,
  expire,
  noticeSending,
  noticeSent,
  noticeDelivered,
  noticeFailed,
  humanMessage,
  turnBegins: beginTurn,
  endTurn,
  retract,
  consume,
  settle,
};

/**
 * The slot's state machine, whole: what a slot becomes by an event, what whoever sent the event is told, and what goes
 * on record. Pure; times and ids come with the events. Only `humanMessage` grants or discards, only `consume` lets run.
 */
export function reduce<Type extends SlotEvent["type"]>(
  slot: Slot,
  event: EventOf<Type>,
  surroundings: Surroundings,
): Transition<OutcomeOf[Type]> {
  return transitions[event.type as Type](slot, event, surroundings);
}
