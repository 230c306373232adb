/**
 * The gate: decides from the words that a person typed whether the one call that waits may run, and words the notice
 * that they are shown. Start reading here. Pure functions over plain data: it imports nothing, does nothing, and is
 * never given a message of the model.
 *
 * consent.ts     whether a typed text is a yes
 * slot.ts        the states, events and outcomes of the one place for a proposal that a session has
 * reduce.ts      the state machine: proposal.ts, showing.ts, turn.ts (with judge.ts: consent itself), execution.ts
 * notice.ts      what the person is shown; visible.ts escapes, look-alike.ts keeps the model from imitating it
 */
export type { HumanFacts, PersonMessage, Tolerance, TypedWords, WordsCheck } from "./consent.js";
export { createWords, humanFacts, isConfirmation } from "./consent.js";
export { awaitsReceipt } from "./judge.js";
export type { Locale, Reports } from "./locale.js";
export { defaultWords, isLocale, locales, reports } from "./locale.js";
export { appendNotice, neutralise } from "./look-alike.js";
export type { NoticeCall, NoticeStyle, NoticeValue, WordedNotice } from "./notice.js";
export { wordCall, wordNotice } from "./notice.js";
export { reduce } from "./reduce.js";
export type * from "./slot.js";
export { emptySlot } from "./slot.js";
export type { SlotStore } from "./store.js";
