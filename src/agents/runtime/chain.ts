import type { JsonObject } from "../../canonical/index.js";
import type { ChainDefinition, ChainLink } from "../spec/index.js";
import type { RuntimeContext } from "./context.js";
import type { StepsReport } from "./run.js";
import type { Frame, RunState } from "./run-state.js";
import { attempt, condition, outputValue, reportOf, type StepLog } from "./step.js";
import type { AgentAnswer, Work } from "./work.js";

/**
 * The agents that run after one has answered. Each gets a query made from the answer; no person has written it. What
 * becomes of them never changes the answer; it is reported beside it.
 */
export async function runChain(
  context: RuntimeContext,
  work: Work,
  state: RunState,
  frame: Frame,
  chain: ChainDefinition,
  first: AgentAnswer,
): Promise<StepsReport> {
  const log: StepLog = { steps: [], stopped: false };
  const steps: Record<string, JsonObject> = {};
  const when: Record<string, boolean> = {};
  const via = frame.via.length === 0 ? {} : { via: frame.via };
  const links = chain.onComplete.filter((link) => !link.default);
  const otherwise = chain.onComplete.find((link) => link.default);

  const values = (): JsonObject => ({
    output: outputValue({ answer: first.answer, data: first.data ?? null }),
    trigger: { query: state.request.query, session_id: state.request.session, context: {} },
    steps: { ...steps },
    when: { ...when },
  });

  /** Decides whether a link runs, and keeps what was decided for later templates. */
  function guard(link: ChainLink): boolean {
    if (log.stopped) return skip(link, "upstream_stopped");
    if (link.when === undefined) return true;
    const held = condition(context, link.when, values(), true);
    when[link.agent] = held === true;
    if (held === "template") return fail(link, "template", 0);
    return held || skip(link, "condition_false");
  }

  function skip(link: ChainLink, reason: string): false {
    log.steps.push({ name: link.agent, status: "skipped", reason, ms: 0, ...via });
    return false;
  }

  function fail(link: ChainLink, reason: string, ms: number): false {
    log.steps.push({ name: link.agent, status: "error", reason, ms, ...via });
    if (link.onError === "stop") log.stopped = true;
    return false;
  }

  async function run(link: ChainLink, seen: JsonObject): Promise<void> {
    if (frame.depth >= context.limits.depth) {
      skip(link, "max_depth");
      return;
    }
    const startedAt = context.now();
    let nested: StepsReport | undefined;
    const plan = {
      signal: frame.signal,
      ...(link.retry === undefined ? {} : { retry: link.retry }),
      ...(link.timeoutMs === undefined ? {} : { timeoutMs: link.timeoutMs }),
    };
    const end = await attempt(plan, async (signal) => {
      const query = context.template(link.input).text(seen, true);
      const task = {
        agent: link.agent,
        query,
        via: [...frame.via, link.agent],
        depth: frame.depth + 1,
        signal,
        until: frame.until,
      };
      const done = await work(state, task);
      nested = done.chain;
      return { ok: true, output: { answer: done.answer, data: done.data ?? null } };
    });
    const ms = context.now() - startedAt;
    if (!end.ok) {
      fail(link, end.code, ms);
      return;
    }
    const { answer, data } = end.output;
    steps[link.agent] = { output: outputValue(end.output), status: "success" };
    const given = data === null ? {} : { data };
    log.steps.push({ name: link.agent, status: "success", answer, ...given, ms, ...via }, ...(nested?.steps ?? []));
  }

  if (chain.mode === "parallel") {
    const seen = values();
    await Promise.all(links.filter(guard).map((link) => run(link, seen)));
  } else {
    for (const link of links) if (guard(link)) await run(link, values());
  }
  if (otherwise !== undefined) {
    if (Object.values(when).some((held) => held)) skip(otherwise, "condition_false");
    else if (guard(otherwise)) await run(otherwise, values());
  }
  return reportOf(log);
}
