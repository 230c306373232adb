/**
 * The gate: decides from the words that a person typed whether the one call that waits may run, and words the notice
 * that they are shown. Start reading here. Pure functions over plain data: it imports nothing, does nothing, and is
 * never given a message of the model.
 */
export type { HumanFacts, TypedWords } from "./consent.js";
export type * from "./slot.js";
export { emptySlot } from "./slot.js";
export type { SlotStore } from "./store.js";
