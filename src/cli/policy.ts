import { formatProblem, letsPass, type ReplayedCall, readPoliciesFile, replayCalls } from "../app/index.js";

interface PolicyTestOptions {
  readonly policies: string;
  readonly calls: string;
}

/** Replays recorded calls against a file of rules, and says what each would have stopped. Changes nothing anywhere. */
export async function testPolicy(options: PolicyTestOptions): Promise<void> {
  const read = await readPoliciesFile(options.policies);
  if (!read.ok) {
    for (const problem of read.problems) console.error(formatProblem(problem));
    process.exitCode = 2;
    return;
  }
  const replay = await replayCalls(options.calls, read.policies).catch(() => undefined);
  if (replay === undefined) {
    console.error(`${options.calls}: cannot be read.`);
    process.exitCode = 2;
    return;
  }
  for (const { line, problem } of replay.faults) console.error(`${options.calls}:${line}: ${problem}`);
  const { calls, confirmations, other, withoutArguments } = replay;
  console.log(`${calls} calls, ${confirmations} confirmations.`);
  if (other > 0) console.log(`${other} lines that tell of neither were skipped.`);
  if (withoutArguments > 0) {
    console.log(
      `${withoutArguments} calls were recorded without arguments: every condition was taken to hold for them.`,
    );
  }
  for (const rule of read.policies.rules) {
    const of = replay.verdicts.filter((each) => each.rule === rule);
    const stopped = of.filter(({ reason }) => !letsPass(reason));
    const did = rule.mode === "enforce" ? "stops" : "would stop (observe)";
    console.log(`\nrule ${rule.index + 1} (${rule.tools.join(", ")}): ${did} ${stopped.length} of ${of.length}`);
    for (const [reason, count] of tally(of)) console.log(`  ${reason}: ${count}`);
    for (const { line, tool, reason } of stopped.slice(0, mostShown)) console.log(`  line ${line}: ${tool}: ${reason}`);
    if (stopped.length > mostShown) console.log(`  … and ${stopped.length - mostShown} more`);
  }
  if (replay.faults.length > 0) process.exitCode = 1;
}

/** Stopped calls that are listed of one rule. */
const mostShown = 20;

function tally(calls: readonly ReplayedCall[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { reason } of calls) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}
