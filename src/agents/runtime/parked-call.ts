import { digestId, type JsonObject } from "../../canonical/index.js";
import type { Tool } from "../tools/index.js";
import type { GuardRefusal, Outcome, RuntimeContext } from "./context.js";
import { refusal, waitingForApproval } from "./result-wording.js";
import type { Caller, RunState } from "./run-state.js";

/** A call that somebody else has to approve. It has not run; who asked for the run puts it before the reviewers. */
export interface ParkedCall {
  /** Of the approval that it waits for. */
  readonly id: string;
  /** The agent whose tool it is. */
  readonly agent: string;
  readonly tool: string;
  readonly fingerprint: string;
  /** Canonical text: what will run. */
  readonly canonical: string;
  /** In the order in which it was asked for. */
  readonly args: JsonObject;
  readonly title?: string;
  readonly argumentTitles?: Readonly<Record<string, string>>;
  /** The proposal that the person has said yes to, where the call is gated as well. */
  readonly proposal?: string;
}

/** The same for every run of a turn: a run that is repeated asks for the same approval. */
export function approvalId({ session, turn }: RunState["request"], fingerprint: string): string {
  return digestId("apr-", session, turn, fingerprint);
}

/** What stands as code beside a call that was parked. */
export const parkedCode = "approval";

/** Parks a call that the rules refuse until a reviewer has said yes, or tells the model why it cannot wait. */
export function parkCall(
  context: RuntimeContext,
  state: RunState,
  caller: Caller,
  tool: Tool,
  call: Pick<ParkedCall, "fingerprint" | "canonical" | "args">,
  refused: GuardRefusal,
): Outcome {
  const refuse = (why: string): Outcome => ({
    outcome: "refused",
    content: refusal(refused.code, `${refused.message} ${why}`),
    code: refused.code,
  });
  if (!isOwn(context, caller, tool)) return refuse("A reviewer cannot be asked about a call of this kind.");
  return park(context, state, { ...call, agent: caller.name, ...titled(tool) }) ?? refuse(cannotWait);
}

/** The same for a call that the person has just said yes to. @returns undefined when it cannot wait */
export function park(context: RuntimeContext, state: RunState, call: Omit<ParkedCall, "id">): Outcome | undefined {
  // What a caller handed over for this run alone is gone when somebody decides: other credentials are another call.
  if (Object.keys(state.request.connections ?? {}).length > 0) return undefined;
  const again = state.parked.some((one) => one.fingerprint === call.fingerprint);
  if (!again) {
    if (state.parked.length >= context.limits.parked) return undefined;
    state.parked.push({ ...call, id: approvalId(state.request, call.fingerprint) });
  }
  return { outcome: again ? "repeat" : "waits", content: waitingForApproval(again), code: parkedCode };
}

const cannotWait =
  "It cannot wait for a reviewer either: it depends on what was handed over for this run alone, or too many calls wait.";

/** Agents are run by the runtime, and a workflow's tools are its own: neither can be found again later. */
function isOwn(context: RuntimeContext, caller: Caller, tool: Tool): boolean {
  return "agent" in caller && (context.toolsOf(caller.name)?.some((one) => one.name === tool.name) ?? false);
}

export function titled(tool: Tool): Pick<ParkedCall, "tool" | "title" | "argumentTitles"> {
  return {
    tool: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(tool.argumentTitles === undefined ? {} : { argumentTitles: tool.argumentTitles }),
  };
}
