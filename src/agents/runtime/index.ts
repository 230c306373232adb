/**
 * Runs one turn of an agent: model, tools, and the gate in front of every gated call; agents as tools, chains and
 * workflows. It never decides consent: it asks the `RunGate` that it is given, which knows what the person typed.
 */
export type { CallGuard, Consent, GuardedCall, GuardRefusal, RuntimeLogger } from "./context.js";
export { type AgentRuntime, createRuntime, type RuntimeOptions, type WorkflowResult } from "./create-runtime.js";
export { agentProblems, type DeclaredProblem, workflowProblems } from "./declared-problems.js";
export type { RunLimits } from "./limits.js";
export type { ParkedCall } from "./parked-call.js";
export type {
  GatedCall,
  Propuesta,
  RunCall,
  RunGate,
  RunRequest,
  RunResult,
  StepReport,
  StepsReport,
} from "./run.js";
export type { StoredCall, StoredCallOptions, StoredResult } from "./stored-call.js";
