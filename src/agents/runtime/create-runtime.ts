import { setTimeout as sleep } from "node:timers/promises";
import { digestId, type JsonObject, type JsonValue } from "../../canonical/index.js";
import { DaleError } from "../../errors/index.js";
import type { ChatModel, ModelMessage, ModelNote } from "../models/index.js";
import type { AgentDefinition, GateLocale } from "../spec/index.js";
import type { Tool } from "../tools/index.js";
import { agentTools, isAgentTool, queryFor } from "./agent-tools.js";
import type { CallGuard, Outcome, RuntimeContext, RuntimeLogger } from "./context.js";
import { performConsumed } from "./gated-call.js";
import { defaultLimits, type RunLimits } from "./limits.js";
import { decisionNotes, executedNote } from "./notes.js";
import { dataProblem, extractData, outputInstruction, repairNote } from "./output-schema.js";
import { runLoop } from "./react-loop.js";
import { mistake, refusal } from "./result-wording.js";
import type { RunRequest, RunResult } from "./run.js";
import { ranOutReport, writeReports } from "./run-reports.js";
import { createRunState, type Frame, type RunState } from "./run-state.js";
import { schemaCheck } from "./schema-check.js";
import type { AgentCaller } from "./tool-call.js";

export interface RuntimeOptions {
  agentOf(name: string): AgentDefinition | undefined;
  /** The agent's tools, without those of type `agent`: they are the runtime's own. */
  toolsOf(agent: string): readonly Tool[] | undefined;
  modelOf(agent: string): ChatModel | undefined;
  /** Asked before every call; default: nothing is forbidden. */
  readonly guard?: CallGuard;
  /** The language of the runtime's own sentences, where an agent sets none. */
  readonly locale: GateLocale;
  readonly limits?: Partial<RunLimits>;
  readonly logger: RuntimeLogger;
  /** Ms since 1970. */
  now(): number;
}

export interface AgentRuntime {
  /**
   * One run of an agent, and of everything that it calls.
   * @throws DaleError `agent_unknown`, `model_failed`, `model_refused`, `turn_timeout`, `turn_aborted`,
   * `store_unavailable`. Once a write was made, or may have been, a failure of the model or the time is an answer that
   * says so, and not an error: a repetition of the turn would not know of it.
   */
  run(agent: string, request: RunRequest): Promise<RunResult>;
}

/** How one agent is set to work: by a person's message, or by another agent, a chain or a workflow. */
interface Task {
  readonly agent: string;
  readonly query: string;
  readonly via: readonly string[];
  readonly depth: number;
  readonly signal: AbortSignal;
}

interface Opening {
  readonly messages: readonly ModelMessage[];
  readonly notes: readonly ModelNote[];
}

export interface AgentAnswer {
  readonly answer: string;
  readonly messages: readonly ModelMessage[];
  readonly data?: JsonValue;
}

export function createRuntime(options: RuntimeOptions): AgentRuntime {
  const context: RuntimeContext = {
    agentOf: options.agentOf,
    toolsOf: options.toolsOf,
    modelOf: options.modelOf,
    guard: options.guard ?? (async () => undefined),
    limits: { ...defaultLimits, ...options.limits },
    logger: options.logger,
    now: options.now,
    pause: (ms) => sleep(ms),
  };

  const prepared = new WeakMap<AgentDefinition, { own: readonly Tool[]; tools: ReadonlyMap<string, Tool> }>();
  const outputChecks = new WeakMap<JsonObject, (value: JsonValue) => string | undefined>();

  async function run(agent: string, request: RunRequest): Promise<RunResult> {
    const state = createRunState(request);
    const task: Task = { agent, query: request.query, via: [], depth: 1, signal: request.signal };
    const { answer, messages, data } = await work(state, task, (frame) => openTurn(state, frame));
    const { pending } = state;
    return {
      answer,
      ...(pending === undefined
        ? {}
        : { pending: { proposal: pending.id, notice: pending.notice, expiresAt: pending.expiresAt } }),
      propuestas: state.propuestas,
      calls: state.calls,
      messages: messages.slice(request.history.length).map(withoutImages),
      ...(data === undefined ? {} : { data }),
    };
  }

  /** Runs one agent within its own time, which is never longer than that of what surrounds it. */
  async function work(state: RunState, task: Task, open: (frame: Frame) => Promise<Opening>): Promise<AgentAnswer> {
    const agent = context.agentOf(task.agent);
    const model = context.modelOf(task.agent);
    if (agent === undefined || model === undefined) {
      throw new DaleError("agent_unknown", `No agent named ${task.agent} is loaded.`);
    }
    const clock = new AbortController();
    const timer = setTimeout(() => {
      clock.abort(new DaleError("turn_timeout", `The agent ${agent.name} took longer than ${agent.timeoutMs} ms.`));
    }, agent.timeoutMs);
    const frame: Frame = {
      agent,
      model,
      tools: toolsFor(agent),
      via: task.via,
      depth: task.depth,
      signal: AbortSignal.any([task.signal, clock.signal]),
    };
    try {
      return await answerWith(state, frame, await open(frame));
    } catch (error) {
      // An aborted signal's reason is what ended the run, whatever a tool or a model made of it.
      throw frame.signal.aborted ? endOf(frame.signal) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function answerWith(state: RunState, frame: Frame, opening: Opening): Promise<AgentAnswer> {
    const { agent } = frame;
    const locale = agent.gate.locale ?? options.locale;
    const outermost = frame.via.length === 0;
    const schema = agent.outputSchema;
    const start = {
      ...opening,
      system: schema === undefined ? agent.systemPrompt : agent.systemPrompt + outputInstruction(schema),
      mayBeEmpty: false,
    };
    try {
      const end = await runLoop(context, state, frame, start, callAgent(state));
      const repaired = schema === undefined ? undefined : await fitSchema(state, frame, start, end.messages, schema);
      const said = repaired?.said ?? end.said;
      const answer = [
        ...(outermost ? writeReports(state.writes, locale, false) : []),
        ...said,
        ...(end.ranOut ? [ranOutReport(locale)] : []),
      ].join("\n\n");
      const data = repaired?.data;
      return {
        answer,
        messages: repaired?.messages ?? end.messages,
        ...(data === undefined ? {} : { data: data.value }),
      };
    } catch (error) {
      if (!outermost || state.writes.length === 0 || state.request.signal.aborted || isStoreFault(error)) throw error;
      context.logger.warn(
        { turn: state.request.turn, agent: agent.name, code: error instanceof DaleError ? error.code : "unexpected" },
        "a run failed after a write: the runtime answers itself",
      );
      const answer = writeReports(state.writes, locale, true).join("\n\n");
      return { answer, messages: [...opening.messages, { role: "assistant", content: answer }] };
    }
  }

  /** The person's message and, where they just said yes, the confirmed call with its result. */
  async function openTurn(state: RunState, frame: Frame): Promise<Opening> {
    const { request } = state;
    const { gate } = request;
    const decision = state.person ? gate.decision : undefined;
    const images =
      frame.model.seesImages === true && (request.images ?? []).length > 0 ? { images: request.images ?? [] } : {};
    const messages: ModelMessage[] = [...request.history, { role: "user", content: request.query, ...images }];
    const notes = [...decisionNotes(decision, gate.interrupted, gate.resume)];
    if (decision?.kind !== "granted" || gate.resume !== "runtime") return { messages, notes };

    const { proposal } = decision;
    frame.signal.throwIfAborted();
    const startedAt = context.now();
    const consumed = await gate.consume(proposal.tool, proposal.fingerprint);
    const outcome: Outcome =
      consumed.kind === "refused"
        ? { outcome: "refused", content: notRun(), code: "grant_gone" }
        : await performConsumed(context, state, consumed);
    state.calls.push({
      tool: proposal.tool,
      argsHash: proposal.fingerprint,
      outcome: outcome.outcome,
      startedAt,
      ms: context.now() - startedAt,
      ...(outcome.code === undefined ? {} : { code: outcome.code }),
    });
    const id = digestId("call-", proposal.id);
    messages.push(
      { role: "assistant", content: "", calls: [{ id, tool: proposal.tool, argumentsText: proposal.args }] },
      { role: "tool", callId: id, tool: proposal.tool, content: outcome.content },
    );
    const status = consumed.kind === "refused" ? "not_run" : (state.writes.at(-1)?.status ?? "unknown");
    return { messages, notes: [...notes, executedNote(proposal.tool, status)] };
  }

  /** Another agent's tool call: a run of its own without history, in which nobody has said anything. */
  function callAgent(state: RunState): AgentCaller {
    return async (frame, tool, args) => {
      if (!isAgentTool(tool)) return { outcome: "error", content: mistake("unknown_tool", "There is no such agent.") };
      if (frame.depth >= context.limits.depth) {
        const message = `This call was NOT made: agents may call each other ${context.limits.depth} deep at most.`;
        return { outcome: "refused", content: refusal("too_deep", message), code: "too_deep" };
      }
      const pendingBefore = state.pending;
      const writesBefore = state.writes.length;
      const task: Task = {
        agent: tool.runs,
        query: queryFor(args),
        via: [...frame.via, tool.runs],
        depth: frame.depth + 1,
        signal: frame.signal,
      };
      try {
        const { answer, data } = await work(state, task, async () => ({
          messages: [{ role: "user", content: task.query }],
          notes: [],
        }));
        const facts = nestedFacts(state, pendingBefore?.id, writesBefore);
        const content = JSON.stringify({ answer, ...(data === undefined ? {} : { data }), ...facts });
        return { outcome: "ok", content: facts === undefined && data === undefined ? answer : content };
      } catch (error) {
        frame.signal.throwIfAborted();
        if (isStoreFault(error)) throw error;
        const code = error instanceof DaleError ? error.code : "unexpected";
        const facts = nestedFacts(state, pendingBefore?.id, writesBefore);
        const message = "The agent failed and has no answer.";
        return {
          outcome: "error",
          content: JSON.stringify({ status: "error", reason: code, message, ...facts }),
          code,
        };
      }
    };
  }

  /** One more try where the answer does not fit the schema. What fits in neither is no data, and the text stays. */
  async function fitSchema(
    state: RunState,
    frame: Frame,
    start: Opening & { readonly system: string },
    messages: readonly ModelMessage[],
    schema: JsonObject,
  ) {
    const check = outputChecks.get(schema) ?? schemaCheck(schema);
    outputChecks.set(schema, check);
    const first = lastText(messages);
    const data = extractData(first);
    const problem = dataProblem(data, check);
    if (problem === undefined) return { said: [first], messages, data };
    const reply = await frame.model.generate({
      system: start.system,
      notes: [...start.notes, repairNote(problem)],
      messages,
      tools: [],
      signal: frame.signal,
    });
    const text = reply.text.trim();
    const second = extractData(text);
    if (text === "" || dataProblem(second, check) !== undefined) {
      context.logger.warn({ turn: state.request.turn, agent: frame.agent.name }, "an answer does not fit its schema");
      return { said: [first], messages, data: undefined };
    }
    return { said: [text], messages: [...messages, { role: "assistant" as const, content: text }], data: second };
  }

  /** Made once an agent: compiling the schemas of its tools costs more than a run. */
  function toolsFor(agent: AgentDefinition): ReadonlyMap<string, Tool> {
    const own = context.toolsOf(agent.name) ?? [];
    const known = prepared.get(agent);
    if (known?.own === own) return known.tools;
    const agents = agentTools(agent, (name) => context.agentOf(name)?.description);
    const tools = new Map([...own, ...agents].map((tool) => [tool.name, tool]));
    prepared.set(agent, { own, tools });
    return tools;
  }

  return { run };
}

/** What a sub-agent's run left behind, said by the runtime: its own answer may say anything. */
function nestedFacts(state: RunState, pendingBefore: string | undefined, writesBefore: number) {
  const waits = state.pending !== undefined && state.pending.id !== pendingBefore ? { waits: state.pending.tool } : {};
  const writes = state.writes.slice(writesBefore).map(({ tool, status }) => ({ tool, status }));
  const facts = { ...waits, ...(writes.length === 0 ? {} : { writes }) };
  if (Object.keys(facts).length === 0) return undefined;
  return { runtime: { ...facts, note: "Calls under waits have NOT run: the runtime asks the person for them." } };
}

/** Memory keeps no bytes: what came with a message stands in the query in words. */
function withoutImages(message: ModelMessage): ModelMessage {
  return message.role === "user" ? { role: "user", content: message.content } : message;
}

function lastText(messages: readonly ModelMessage[]): string {
  const last = messages.at(-1);
  return last?.role === "assistant" ? last.content : "";
}

function notRun(): string {
  return refusal("grant_gone", "The person confirmed this call, but it could not be run any more. It has NOT run.");
}

function isStoreFault(error: unknown): boolean {
  return error instanceof DaleError && error.code === "store_unavailable";
}

function endOf(signal: AbortSignal): DaleError {
  return signal.reason instanceof DaleError
    ? signal.reason
    : new DaleError("turn_aborted", "The run was stopped from outside.");
}
