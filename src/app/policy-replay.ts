import { readFile } from "node:fs/promises";
import { checkJson, fingerprint, type JsonValue } from "../canonical/index.js";
import {
  bindTo,
  type Candidate,
  confirmationKinds,
  confirmationOutcomes,
  evaluate,
  keptMs,
  mostOfSession,
  newestOfTool,
  type Policies,
  parsePath,
  type Rule,
  type RuleReason,
  rulesFor,
} from "../ledger/index.js";
import { createLineReader, type Line } from "./policy-lines.js";

export interface ReplayedCall {
  /** In the file, from 1. */
  readonly line: number;
  readonly tool: string;
  readonly rule: Rule;
  readonly reason: RuleReason;
}

export interface Replay {
  readonly calls: number;
  readonly confirmations: number;
  /** Lines that tell of neither. */
  readonly other: number;
  /** What each rule came to, for each call that it applies to. */
  readonly verdicts: readonly ReplayedCall[];
  /** Lines that cannot be read, with what is wrong. */
  readonly faults: readonly { readonly line: number; readonly problem: string }[];
  /** Calls whose arguments were not recorded: every condition was taken to hold. */
  readonly withoutArguments: number;
}

interface Told {
  readonly args: JsonValue | undefined;
  /** The same for the same call, however it was recorded. */
  readonly identity: string;
}

interface KeptConfirmation extends Candidate, Told {
  readonly bindFields?: readonly string[];
}

/** Replays recorded calls, in the order of the file, against rules: what each would have come to. */
export async function replayCalls(file: string, policies: Policies): Promise<Replay> {
  const sessions = new Map<string, KeptConfirmation[]>();
  const spent = new Set<string>();
  const verdicts: ReplayedCall[] = [];
  const faults: { line: number; problem: string }[] = [];
  let [calls, confirmations, other, withoutArguments, clock] = [0, 0, 0, 0, 0];

  function keep(entry: Line, number: number): void {
    const kind = confirmationKinds.find((each) => each === entry.kind) ?? "confirmation";
    const list = sessions.get(entry.session) ?? [];
    list.unshift({
      version: 1,
      id: `line-${number}`,
      tool: entry.tool,
      kind,
      outcome: confirmationOutcomes.find((each) => each === entry.outcome) ?? "approved",
      role: entry.actor_role ?? "user",
      ...(entry.ref === undefined ? {} : { ref: entry.ref }),
      at: clock,
      binding: { to: "tool" },
      used: false,
      ...toldIn(entry),
      ...(entry.bind_fields === undefined ? {} : { bindFields: entry.bind_fields }),
    });
    sessions.set(entry.session, list.slice(0, mostOfSession));
    confirmations++;
  }

  function judge(entry: Line, number: number): void {
    calls++;
    const told = toldIn(entry);
    if (told.args === undefined) withoutArguments++;
    const call = { tool: entry.tool, args: told.args };
    const rules = rulesFor(policies, call);
    if (rules.length === 0) return;
    const kept = sessions.get(entry.session) ?? [];
    const found = newestOfTool(kept, { tool: entry.tool, carried: [], since: clock - keptMs, limit: 10 });
    const candidates = kept
      .filter((each) => found.includes(each))
      .map((each) => ({
        ...each,
        binding: bindingOf(each, told),
        used: each.used || (each.ref !== undefined && spent.has(each.ref)),
      }));
    const evaluation = evaluate(rules, { tool: entry.tool, args: told.args ?? stand }, candidates, clock);
    verdicts.push(...evaluation.verdicts.map(({ rule, reason }) => ({ line: number, tool: entry.tool, rule, reason })));
    if (!evaluation.allowed) return;
    for (const { by } of evaluation.verdicts) {
      if (by === undefined) continue;
      if (by.ref !== undefined) spent.add(by.ref);
      const list = kept.map((each) => (each.id === by.id ? { ...each, used: true } : each));
      sessions.set(entry.session, list);
    }
  }

  const read = createLineReader();
  const lines = (await readFile(file, "utf8")).split("\n");
  for (const [index, text] of lines.entries()) {
    if (text.trim() === "") continue;
    const reading = read(text);
    if ("problem" in reading) {
      faults.push({ line: index + 1, problem: reading.problem });
      continue;
    }
    const { line } = reading;
    if (line === undefined) {
      other++;
      continue;
    }
    clock = line.at === undefined ? clock + 1 : Date.parse(line.at);
    if (line.tells === "confirmation") keep(line, index + 1);
    else judge(line, index + 1);
  }
  return { calls, confirmations, other, verdicts, faults, withoutArguments };
}

function toldIn(entry: Line): Told {
  const checked = checkJson(entry.args);
  const args = checked.ok ? checked.value : undefined;
  const identity = entry.args_hash ?? (args === undefined ? "" : fingerprint(entry.tool, args));
  return { args, identity };
}

/** Stands for arguments that nobody recorded: the same for the same identity. */
const stand: JsonValue = {};
const anythingElse: JsonValue = { else: true };

function bindingOf(confirmation: KeptConfirmation, call: Told): Candidate["binding"] {
  const paths = confirmation.bindFields?.map((each) => parsePath(each) ?? []);
  if (confirmation.args !== undefined && call.args !== undefined) return bindTo(confirmation.args, "sha256", paths);
  if (confirmation.identity === "") return { to: "tool" };
  return bindTo(confirmation.identity === call.identity ? (call.args ?? stand) : anythingElse, "sha256");
}
