/**
 * From a queued message to a committed answer, one at a time per session: ask the gate, run the agent, append the
 * notice, commit, hand the parts to the outbound queue. It speaks to no platform and to no Redis: only to ports.
 */
export { chatOf, createGateDesk, type GateDesk } from "./gate-desk.js";
export { createPerception, type Perception } from "./perception.js";
export type {
  ApprovalPlace,
  BegunApproval,
  CallRecord,
  ConversationMemory,
  Origin,
  TurnApprovals,
  TurnRecord,
  TurnRequest,
  TurnSignals,
  TurnStore,
  UnsettledExecution,
  UnsettledStore,
} from "./ports.js";
export { parseTurnRequest } from "./request.js";
export { type AskedRun, createRunDesk, type RunDesk } from "./run-desk.js";
export type { Presence, TurnAgent, TurnChannel } from "./turn-context.js";
export { turnOf } from "./turn-id.js";
export { createTurnWorker, type TurnWorker } from "./turn-worker.js";
