import { checkJson, isJsonObject, type JsonObject } from "../canonical/index.js";
import { DaleError } from "../errors/index.js";
import { readToolName } from "./confirmation.js";
import { isContextId } from "./context.js";
import { checkOptions } from "./options.js";

export interface AwaitApprovalOptions {
  /** Default: the context's. */
  readonly sessionId?: string;
  /** Default 5 minutes; 24 hours at most. */
  readonly timeoutMs?: number;
}

const usualTimeoutMs = 5 * 60_000;
/** The gateway's own limit. */
const longestTimeoutMs = 24 * 3_600_000;

/** A call as a reviewer can be shown it. */
export interface ShownCall {
  readonly tool: string;
  readonly args: JsonObject;
}

/** No arguments are none: `{}`. @throws DaleError `approval_unavailable` that names the reason */
export function readShown(tool: unknown, args: unknown): ShownCall {
  const refuse = (why: string) => new DaleError("approval_unavailable", `A reviewer cannot be shown this call: ${why}`);
  const name = readToolName(tool);
  if (name === undefined) {
    throw refuse("a tool's name is a text of 1 to 256 characters, none of them a control character.");
  }
  const checked = checkJson(args === undefined ? {} : args);
  if (!checked.ok) throw refuse(`its arguments cannot be written as JSON. ${checked.message}`);
  if (!isJsonObject(checked.value)) throw refuse("its arguments are no object, and a reviewer sees each by its name.");
  return { tool: name, args: checked.value };
}

/** @throws DaleError `config_invalid` that names what is wrong */
export function readApprovalOptions(
  options: AwaitApprovalOptions,
): AwaitApprovalOptions & { readonly timeoutMs: number } {
  checkOptions(options, ["sessionId", "timeoutMs"], "awaitApproval");
  const { sessionId, timeoutMs = usualTimeoutMs } = options;
  if (!(typeof timeoutMs === "number" && timeoutMs >= 0 && timeoutMs <= longestTimeoutMs)) {
    throw new DaleError("config_invalid", `timeoutMs is a number from 0 to ${longestTimeoutMs} (a day).`);
  }
  if (sessionId !== undefined && !isContextId(sessionId)) {
    throw new DaleError("config_invalid", "sessionId is a text of 1 to 512 characters.");
  }
  return { timeoutMs, ...(sessionId === undefined ? {} : { sessionId }) };
}
