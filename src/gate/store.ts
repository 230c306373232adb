import type { OutcomeOf, Slot, SlotEvent } from "./slot.js";

/**
 * Where slots live. An implementation reads the slot (and what was last sent to the chat), calls `reduce`, and writes
 * slot, evidence and the list of unsettled executions in one atomic step, by compare-and-set; when somebody else was
 * faster it starts over. Contract suite: test/contracts/slot-store.ts.
 */
export interface SlotStore {
  /**
   * @param chat `<channel>:<account>:<chat>`: where to look up what was last sent; needed for humanMessage
   * @throws DaleError `store_unavailable`: then nothing may run
   */
  apply<Type extends SlotEvent["type"]>(
    session: string,
    event: Extract<SlotEvent, { type: Type }>,
    chat?: string,
  ): Promise<OutcomeOf[Type]>;
  read(session: string): Promise<Slot>;
}
