import { isJsonObject, type JsonObject, parseStrict } from "../../canonical/index.js";
import type { ExecutionResult } from "../../gate/index.js";
import type { ConnectionOverrides } from "../tools/index.js";
import type { Consent, GuardedCall, GuardRefusal, RuntimeContext } from "./context.js";
import { cut, failedExecution, unknownExecution } from "./result-wording.js";

/** A call that was kept until somebody had said yes to it: it runs exactly as it was kept. */
export interface StoredCall {
  /** Id of the proposal or the approval; sent as idempotency key where the manifest names a header for it. */
  readonly id: string;
  /** The agent whose tool it is. */
  readonly agent: string;
  readonly tool: string;
  /** Canonical text. */
  readonly args: string;
  readonly consents: readonly Consent[];
}

export interface StoredCallOptions {
  readonly session: string;
  readonly signal: AbortSignal;
  /** Per-run credentials, where the run has any. */
  readonly connections?: ConnectionOverrides;
  /** True for what the gate has just granted. */
  readonly granted: boolean;
}

export type StoredResult = ExecutionResult & {
  readonly code?: string;
  /** It did not run, and may once a reviewer has said yes. */
  readonly awaitsApproval?: boolean;
};

/**
 * Makes a stored call. Whoever asks has used up the yes by now: whatever happens, this is never tried again. Never
 * rejects.
 */
export async function performStored(
  context: RuntimeContext,
  stored: StoredCall,
  options: StoredCallOptions,
): Promise<StoredResult> {
  const tool = context.toolsOf(stored.agent)?.find((one) => one.name === stored.tool);
  if (tool === undefined) {
    return { status: "failed", content: failedExecution("this tool does not exist any more"), code: "tool_gone" };
  }
  const args = storedArguments(stored.args);
  const problem = args === undefined ? "its stored arguments cannot be read" : tool.check(args);
  if (args === undefined || problem !== undefined) {
    const content = failedExecution(problem ?? "its stored arguments cannot be read");
    return { status: "failed", content, code: "bad_arguments" };
  }
  const { session, signal, connections = {}, granted } = options;
  const refused = await askRules(context, {
    tool: tool.name,
    args,
    session,
    granted,
    consents: stored.consents,
  });
  if (refused !== undefined) {
    const { code, message, awaitsApproval = false } = refused;
    return { status: "failed", content: failedExecution(message), code, ...(awaitsApproval ? { awaitsApproval } : {}) };
  }
  if (signal.aborted) return { status: "failed", content: failedExecution("the run was stopped"), code: "aborted" };
  try {
    const result = await tool.call(args, { signal, idempotencyKey: stored.id, connections });
    const content = cut(result.content, context.limits.resultLength);
    if (result.ok) return { status: "executed", content };
    if (result.uncertain) return { status: "unknown", content: unknownExecution(), code: result.code };
    return { status: "failed", content: failedExecution(content), code: result.code };
  } catch {
    return { status: "unknown", content: unknownExecution(), code: signal.aborted ? "aborted" : "unexpected" };
  }
}

/** Rules that cannot be asked allow nothing. */
async function askRules(context: RuntimeContext, call: GuardedCall): Promise<GuardRefusal | undefined> {
  try {
    return await context.guard(call);
  } catch {
    return { code: "rules_unavailable", message: "nobody could look whether it may run" };
  }
}

function storedArguments(text: string): JsonObject | undefined {
  const parsed = parseStrict(text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}
