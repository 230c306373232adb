import type { JsonObject } from "../../canonical/index.js";
import type { ChatModel } from "../models/index.js";
import type { AgentDefinition } from "../spec/index.js";
import type { Tool } from "../tools/index.js";
import type { RunLimits } from "./limits.js";
import type { RunCall } from "./run.js";
import type { Template } from "./template.js";

/** Structured, like pino: ids and codes only. */
export interface RuntimeLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

/** A call that is about to be made, for whoever may still forbid it. */
export interface GuardedCall {
  readonly tool: string;
  readonly args: JsonObject;
  readonly session: string;
  /** True for the one call that the gate has just granted. */
  readonly granted: boolean;
  /** Who said yes to exactly this call. Absent: nobody. */
  readonly consents?: readonly Consent[];
}

/** A yes to one call, which is used up by it. */
export interface Consent {
  readonly by: "person" | "reviewer";
  /** Id of the proposal, or of the approval. */
  readonly ref: string;
  /** Ms since 1970. */
  readonly at: number;
}

/** Why a call may not be made. */
export interface GuardRefusal {
  readonly code: string;
  /** Words for the model. */
  readonly message: string;
  /** Whether it may be made once a reviewer has said yes. */
  readonly awaitsApproval?: boolean;
}

/**
 * Asked immediately before every call of every tool, after the gate. Answers why the call may not be made.
 * @throws what keeps it from knowing: then the call is not made
 */
export type CallGuard = (call: GuardedCall) => Promise<GuardRefusal | undefined>;

/** What every part of the runtime works with. */
export interface RuntimeContext {
  agentOf(name: string): AgentDefinition | undefined;
  toolsOf(agent: string): readonly Tool[] | undefined;
  modelOf(agent: string): ChatModel | undefined;
  readonly guard: CallGuard;
  readonly limits: RunLimits;
  readonly logger: RuntimeLogger;
  /** Ms since 1970. */
  now(): number;
  pause(ms: number): Promise<void>;
  /** A template of a checked file, read once. @throws TemplateFault */
  template(source: string): Template;
}

/** A call whose arguments were read strictly and fit the tool's declaration. */
export interface CheckedCall {
  readonly args: JsonObject;
  readonly canonical: string;
  readonly fingerprint: string;
}

/** What one call came to: what goes on record, and what the model is given. */
export interface Outcome {
  readonly outcome: RunCall["outcome"];
  readonly content: string;
  readonly code?: string;
}
