import type { ModelCall, ModelMessage, ModelNote, ModelReply, ModelTool } from "../models/index.js";
import type { RuntimeContext } from "./context.js";
import { lastStepNote } from "./notes.js";
import { refusal } from "./result-wording.js";
import type { Frame, RunState } from "./run-state.js";
import { type AgentCaller, performCall } from "./tool-call.js";

export interface LoopStart {
  readonly system: string;
  /** What was said before, and the query at the end of it. */
  readonly messages: readonly ModelMessage[];
  readonly notes: readonly ModelNote[];
  /** Whether the run has something to say even if the model stays silent. */
  readonly mayBeEmpty: boolean;
}

export interface LoopEnd {
  /** What the model said, in the order in which it said it. */
  readonly said: readonly string[];
  /** The start's messages, and everything since. */
  readonly messages: readonly ModelMessage[];
  /** True when the model wanted more calls than it is allowed steps. */
  readonly ranOut: boolean;
}

/**
 * Reason and act: asks the model, makes the calls that it asks for in order, gives it the results, until it asks for
 * none. The last step is announced to the model and makes no calls.
 * @throws DaleError of the model, or what ends the run
 */
export async function runLoop(
  context: RuntimeContext,
  state: RunState,
  frame: Frame,
  start: LoopStart,
  callAgent: AgentCaller,
): Promise<LoopEnd> {
  const messages: ModelMessage[] = [...start.messages];
  const said: string[] = [];
  const tools = toolsShown(frame);
  for (let step = 1; ; step++) {
    frame.signal.throwIfAborted();
    const last = step >= frame.agent.maxIterations;
    const reply = await frame.model.generate({
      system: start.system,
      notes: last && step > 1 ? [...start.notes, lastStepNote] : start.notes,
      messages,
      tools,
      signal: frame.signal,
      until: frame.until,
      mayBeEmpty:
        start.mayBeEmpty ||
        said.length > 0 ||
        state.pending !== undefined ||
        state.writes.length > 0 ||
        state.parked.length > 0,
    });
    const calls = uniqueCalls(reply, messages, step);
    const text = reply.text.trim();
    if (text !== "" && !said.includes(text)) said.push(text);
    if (calls.length > 0) messages.push({ role: "assistant", content: text, calls });
    else if (text !== "") messages.push({ role: "assistant", content: text });
    if (calls.length === 0) return { said, messages, ranOut: false };
    for (const [index, call] of calls.entries()) {
      const content = last
        ? notMade("no_steps_left", "This call was NOT made: the turn has no steps left.")
        : index >= context.limits.callsPerStep
          ? notMade("too_many_calls", "This call was NOT made: there are too many calls in this step.")
          : (await performCall(context, state, frame, call, callAgent)).content;
      messages.push({ role: "tool", callId: call.id, tool: call.tool, content });
    }
    if (last) return { said, messages, ranOut: true };
  }

  function notMade(code: string, message: string): string {
    const via = frame.via.length === 0 ? {} : { via: frame.via };
    const startedAt = context.now();
    state.calls.push({ tool: "unknown", argsHash: "", outcome: "refused", startedAt, ms: 0, code, ...via });
    return refusal(code, message);
  }
}

/** What a model sees of a frame's tools. */
export function toolsShown(frame: Frame): readonly ModelTool[] {
  return [...frame.tools.values()].map(({ name, description, parameters }) => ({ name, description, parameters }));
}

/** Ids as every endpoint takes them, and none twice in one conversation: some endpoints count from 0 in every reply. */
function uniqueCalls(reply: ModelReply, messages: readonly ModelMessage[], step: number): readonly ModelCall[] {
  const taken = new Set(
    messages.flatMap((message) => (message.role === "assistant" ? (message.calls ?? []).map((call) => call.id) : [])),
  );
  return reply.calls.map((call, index) => {
    let id = call.id;
    for (let attempt = 0; taken.has(id) || !/^[A-Za-z0-9_-]{1,64}$/.test(id); attempt++) {
      id = `call-${messages.length}-${step}-${index}${attempt === 0 ? "" : `-${attempt}`}`;
    }
    taken.add(id);
    return { ...call, id };
  });
}
