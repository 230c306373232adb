import { type Problem, toolNames } from "../agents/spec/index.js";
import { globMatches, isOff, type Rule } from "../ledger/index.js";
import type { Loaded } from "./boot.js";
import type { DaleConfig } from "./config/index.js";
import type { LoadedPolicies } from "./policies.js";

interface KnownTool {
  readonly name: string;
  readonly gated: boolean;
}

/** Rules that cannot do what they look like: those that fit nothing, and those that nothing could ever satisfy, or feed. */
export function policyWarnings(
  { policies, yaml }: Extract<LoadedPolicies, { ok: true }>,
  loaded: Pick<Loaded, "agents" | "workflows">,
  config: Pick<DaleConfig, "redis">,
  env: Readonly<Record<string, string | undefined>>,
): readonly Problem[] {
  const warn = (path: readonly (string | number)[], message: string): Problem =>
    yaml.problem(["require_confirmation", ...path], message, { severity: "warning" });
  if (policies.rules.length > 0 && isOff(env)) {
    return [warn([], "the ledger is off (DALE_CONFIRMATION_LEDGER=off): no rule has data, and none blocks anything")];
  }
  const known = [...loaded.agents, ...loaded.workflows.values()].flatMap(({ tools }) =>
    tools.flatMap((tool): readonly KnownTool[] =>
      toolNames(tool).map(({ name, part }) => ({
        name,
        gated: tool.type === "integration" && part !== undefined && tool.confirm.includes(part),
      })),
    ),
  );
  return policies.rules.flatMap((rule) => {
    const fitting = rule.tools.map((pattern) => known.filter(({ name }) => globMatches(pattern, name)));
    const idle = fitting.flatMap((tools, index) =>
      tools.length > 0 ? [] : [warn([rule.index, "tools", index], "fits no tool of any agent or workflow")],
    );
    const starved = fitting.flat().filter((tool) => config.redis === undefined && !canBeMet(rule, tool));
    const names = [...new Set(starved.map(({ name }) => name))].join(", ");
    if (names === "") return idle;
    const effect = rule.mode === "enforce" ? "every call is refused" : "every call would be refused";
    return [
      ...idle,
      warn([rule.index], `has no data for ${names}: nothing here records what it accepts, so ${effect}`),
    ];
  });
}

/** Within Dale: a yes at the gate, or a reviewer's. With a Redis of one's own, an app may record whatever it likes. */
function canBeMet(rule: Rule, tool: KnownTool): boolean {
  const { kinds, roles } = rule.accept;
  const byPerson = tool.gated && kinds.includes("confirmation") && roles.includes("user");
  return byPerson || rule.onMissing === "request_approval";
}
