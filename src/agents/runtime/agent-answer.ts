import { DaleError } from "../../errors/index.js";
import type { GateLocale } from "../spec/index.js";
import type { RuntimeContext } from "./context.js";
import { fitSchema, outputInstruction } from "./output-schema.js";
import { runLoop } from "./react-loop.js";
import { ranOutReport, writeReports } from "./run-reports.js";
import type { Frame, RunState } from "./run-state.js";
import type { AgentCaller } from "./tool-call.js";
import { type AgentAnswer, codeOf, type Opening } from "./work.js";

/**
 * One agent's answer from its opening: the loop, the output schema, and what the runtime itself has to say. Once a write
 * was made, or may have been, a failure is an answer that says so: a repetition of the turn would not know of it.
 */
export async function answerFrom(
  context: RuntimeContext,
  state: RunState,
  frame: Frame,
  opening: Opening,
  locale: GateLocale,
  callAgent: AgentCaller,
): Promise<AgentAnswer & { readonly complete: boolean }> {
  const { agent } = frame;
  const outermost = frame.via.length === 0;
  const schema = agent.outputSchema;
  const system = schema === undefined ? agent.systemPrompt : agent.systemPrompt + outputInstruction(schema);
  const start = { ...opening, system, mayBeEmpty: false };
  try {
    const end = await runLoop(context, state, frame, start, callAgent);
    const fitted = schema === undefined ? undefined : await fitSchema(frame, start, end.messages, schema);
    const said = [
      ...(fitted === undefined ? end.said : [fitted.answer]),
      ...(end.ranOut ? [ranOutReport(locale)] : []),
    ];
    const reports = outermost ? writeReports(state.writes, locale, said.length === 0) : [];
    return {
      answer: [...reports, ...said].join("\n\n"),
      messages: fitted?.messages ?? end.messages,
      ...(fitted?.data === undefined ? {} : { data: fitted.data.value }),
      complete: true,
    };
  } catch (error) {
    if (!outermost || state.writes.length === 0 || state.request.signal.aborted || isStoreFault(error)) throw error;
    context.logger.warn(
      { turn: state.request.turn, agent: agent.name, code: codeOf(error) },
      "a run failed after a write: the runtime answers itself",
    );
    const answer = writeReports(state.writes, locale, true).join("\n\n");
    return { answer, messages: [...opening.messages, { role: "assistant", content: answer }], complete: false };
  }
}

function isStoreFault(error: unknown): boolean {
  return error instanceof DaleError && error.code === "store_unavailable";
}
