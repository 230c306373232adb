import { Hono } from "hono";
import { letsPass, type Rule, type RuleReason } from "../../ledger/index.js";
import type { HttpPorts } from "../ports.js";

/** The rules of policies.yaml, with what they have come to: under observe, what each would have stopped. */
export function policyRoutes(ports: Pick<HttpPorts, "policies">): Hono {
  const routes = new Hono();
  routes.get("/policies", async (c) => {
    const { rules, counts, ledger } = await ports.policies();
    return c.json({ ledger, items: rules.map((rule, index) => ruleJson(rule, counts[index] ?? {})) });
  });
  return routes;
}

function ruleJson(rule: Rule, counts: Readonly<Record<string, number>>) {
  const entries = Object.entries(counts);
  const sum = (of: typeof entries) => of.reduce((total, [, count]) => total + count, 0);
  const stopped = sum(entries.filter(([reason]) => !letsPass(reason as RuleReason)));
  return {
    id: rule.id,
    tools: rule.tools,
    when: rule.when.map(({ text }) => text),
    accept: rule.accept,
    max_age_ms: rule.maxAgeMs,
    mode: rule.mode,
    on_missing: rule.onMissing,
    ...(rule.message === undefined ? {} : { message: rule.message }),
    checked: sum(entries),
    /** Of an observed rule: what it would have stopped. */
    stopped,
    counts,
  };
}
