import { setTimeout as sleep } from "node:timers/promises";
import { DaleError } from "../../errors/index.js";
import type { ChatModel, ModelMessage } from "../models/index.js";
import type { AgentDefinition, GateLocale, WorkflowDefinition } from "../spec/index.js";
import type { Tool } from "../tools/index.js";
import { answerFrom } from "./agent-answer.js";
import { agentTools } from "./agent-tools.js";
import { runChain } from "./chain.js";
import type { CallGuard, RuntimeContext, RuntimeLogger } from "./context.js";
import { defaultLimits, type RunLimits } from "./limits.js";
import { performAgent } from "./nested-agent.js";
import type { RunRequest, RunResult, StepsReport } from "./run.js";
import { createRunState, type Frame, type RunState } from "./run-state.js";
import { performStored, type StoredCall, type StoredCallOptions, type StoredResult } from "./stored-call.js";
import { compileTemplate, type Template } from "./template.js";
import type { AgentCaller } from "./tool-call.js";
import { openTurn } from "./turn-opening.js";
import { type AgentAnswer, endOf, type Opening, type Task, type Work } from "./work.js";
import { runWorkflow } from "./workflow.js";

export interface RuntimeOptions {
  agentOf(name: string): AgentDefinition | undefined;
  /** The agent's tools, without those of type `agent`: they are the runtime's own. */
  toolsOf(agent: string): readonly Tool[] | undefined;
  modelOf(agent: string): ChatModel | undefined;
  /** Default: there are none. */
  workflowOf?(name: string): WorkflowDefinition | undefined;
  /** A workflow's own tools, like `toolsOf`. */
  workflowToolsOf?(name: string): readonly Tool[] | undefined;
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
  /**
   * One run of a workflow. Never in a person's name, whatever the request says: nothing in it can propose.
   * @throws DaleError `agent_unknown` (no such workflow), `turn_timeout`, `turn_aborted`, `store_unavailable`
   */
  runWorkflow(workflow: string, request: RunRequest): Promise<WorkflowResult>;
  /**
   * Makes a call that was kept until a reviewer had said yes. The caller has used that yes up: it is never tried again.
   * Never rejects.
   */
  perform(call: StoredCall, options: Omit<StoredCallOptions, "granted">): Promise<StoredResult>;
}

export interface WorkflowResult extends RunResult {
  readonly workflow: StepsReport;
}

export function createRuntime(options: RuntimeOptions): AgentRuntime {
  const templates = new Map<string, Template>();
  const context: RuntimeContext = {
    agentOf: options.agentOf,
    toolsOf: options.toolsOf,
    modelOf: options.modelOf,
    guard: options.guard ?? (async () => undefined),
    limits: { ...defaultLimits, ...options.limits },
    logger: options.logger,
    now: options.now,
    pause: (ms) => sleep(ms),
    template(source) {
      const template = templates.get(source) ?? compileTemplate(source);
      templates.set(source, template);
      return template;
    },
  };
  const prepared = new WeakMap<object, { own: readonly Tool[]; tools: ReadonlyMap<string, Tool> }>();

  async function run(agent: string, request: RunRequest): Promise<RunResult> {
    const state = createRunState(request);
    const task: Task = {
      agent,
      query: request.query,
      via: [],
      depth: 1,
      signal: request.signal,
      until: Number.POSITIVE_INFINITY,
    };
    const { answer, messages, data, chain } = await work(state, task, (frame) => openTurn(context, state, frame));
    return {
      answer,
      ...leftBy(state),
      messages: messages.slice(request.history.length).map(withoutImages),
      ...(data === undefined ? {} : { data }),
      ...(chain === undefined ? {} : { chain }),
    };
  }

  const work: Work = async (state, task, open = async () => alone(task.query)) => {
    const agent = context.agentOf(task.agent);
    const model = context.modelOf(task.agent);
    if (agent === undefined || model === undefined) {
      throw new DaleError("agent_unknown", `No agent named ${task.agent} is loaded.`);
    }
    return await within(agent.name, agent.timeoutMs, task.signal, async (signal) => {
      const { via, depth } = task;
      const until = Math.min(task.until, context.now() + agent.timeoutMs);
      const frame: Frame = { name: agent.name, agent, model, tools: toolsFor(agent), via, depth, signal, until };
      const answered = await answerFrom(
        context,
        state,
        frame,
        await open(frame),
        agent.gate.locale ?? options.locale,
        callAgent(state),
      );
      return agent.chain === undefined || !answered.complete ? answered : await chained(state, frame, answered);
    });
  };

  /** The chain runs in the time of the turn, but its end, whatever it is, leaves the answer as it stands. */
  async function chained(state: RunState, frame: Frame, answered: AgentAnswer): Promise<AgentAnswer> {
    if (frame.agent.chain === undefined) return answered;
    try {
      return { ...answered, chain: await runChain(context, work, state, frame, frame.agent.chain, answered) };
    } catch (error) {
      if (state.request.signal.aborted || !frame.signal.aborted) throw error;
      context.logger.warn({ turn: state.request.turn, agent: frame.name }, "a chain took longer than its agent may");
      return { ...answered, chain: { status: "failed", steps: [] } };
    }
  }

  function callAgent(state: RunState): AgentCaller {
    return (caller, tool, args) => performAgent(context, work, state, caller, tool, args);
  }

  async function startWorkflow(name: string, request: RunRequest): Promise<WorkflowResult> {
    const workflow = options.workflowOf?.(name);
    if (workflow === undefined) throw new DaleError("agent_unknown", `No workflow named ${name} is loaded.`);
    const state = createRunState({ ...request, desdeHumano: false });
    const own = options.workflowToolsOf?.(name) ?? [];
    const tools = new Map([...own, ...agentsAsTools(workflow)].map((tool) => [tool.name, tool]));
    const until = context.now() + workflow.timeoutMs;
    const end = await within(name, workflow.timeoutMs, request.signal, (signal) =>
      runWorkflow(context, work, state, workflow, { name, tools, via: [], depth: 1, signal, until }, callAgent(state)),
    );
    const { answer, data, report } = end;
    return { answer, ...leftBy(state), messages: [], ...(data === undefined ? {} : { data }), workflow: report };
  }

  /** Made once an agent: compiling the schemas of its tools costs more than a run. */
  function toolsFor(agent: AgentDefinition): ReadonlyMap<string, Tool> {
    const own = context.toolsOf(agent.name) ?? [];
    const known = prepared.get(agent);
    if (known?.own === own) return known.tools;
    const tools = new Map([...own, ...agentsAsTools(agent)].map((tool) => [tool.name, tool]));
    prepared.set(agent, { own, tools });
    return tools;
  }

  function agentsAsTools(owner: Pick<AgentDefinition, "tools">): readonly Tool[] {
    return agentTools(owner, (name) => context.agentOf(name)?.description);
  }

  return {
    run,
    runWorkflow: startWorkflow,
    perform: (call, where) => performStored(context, call, { ...where, granted: false }),
  };
}

/** Runs something within its own time, which is never longer than that of what surrounds it. */
async function within<End>(
  name: string,
  timeoutMs: number,
  outer: AbortSignal,
  task: (signal: AbortSignal) => Promise<End>,
): Promise<End> {
  const clock = new AbortController();
  const late = new DaleError("turn_timeout", `${name} took longer than ${timeoutMs} ms.`);
  const timer = setTimeout(() => clock.abort(late), timeoutMs);
  const signal = AbortSignal.any([outer, clock.signal]);
  try {
    return await task(signal);
  } catch (error) {
    // An aborted signal's reason is what ended the run, whatever a tool or a model made of it.
    throw signal.aborted ? endOf(signal) : error;
  } finally {
    clearTimeout(timer);
  }
}

function alone(query: string): Opening {
  return { messages: [{ role: "user", content: query }], notes: [] };
}

function leftBy(state: RunState): Pick<RunResult, "pending" | "propuestas" | "parked" | "calls"> {
  const { pending, propuestas, parked, calls } = state;
  if (pending === undefined) return { propuestas, parked, calls };
  return {
    pending: { proposal: pending.id, notice: pending.notice, expiresAt: pending.expiresAt },
    propuestas,
    parked,
    calls,
  };
}

/** Memory keeps no bytes: what came with a message stands in the query in words. */
function withoutImages(message: ModelMessage): ModelMessage {
  return message.role === "user" ? { role: "user", content: message.content } : message;
}
