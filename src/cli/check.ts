import { boot, report } from "../app/index.js";

interface CheckOptions {
  readonly config: string;
  readonly strict?: boolean;
}

/** The boot's own validator, and nothing else. Exit code 2 when Dale would not start like this. */
export async function check(options: CheckOptions): Promise<void> {
  const booted = await boot(options.config, process.env);
  const verdict = report(booted, options.strict ?? false);
  for (const line of verdict.lines) console.error(line);
  if (verdict.refused) {
    process.exitCode = 2;
    return;
  }
  const agents = booted.ok ? booted.loaded.agents.length : 0;
  const errors = booted.problems.filter(({ severity }) => severity === "error").length;
  const loads = `${agents} agent${agents === 1 ? "" : "s"} load${agents === 1 ? "s" : ""}`;
  console.log(`${options.config}: ${errors === 0 ? `fine, ${loads}.` : `starts, ${loads}; what is bad is left out.`}`);
}
