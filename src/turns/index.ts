/**
 * From a queued message to a committed answer, one at a time per session: ask the gate, run the agent, append the
 * notice, commit, hand the parts to the outbound queue. It speaks to no platform and to no Redis: only to ports.
 */
export type {
  CallRecord,
  ConversationMemory,
  Origin,
  TurnRecord,
  TurnRequest,
  TurnStore,
  UnsettledExecution,
  UnsettledStore,
} from "./ports.js";
