import { checkShape, formatProblem, type Problem, readYaml, type YamlFile } from "../agents/spec/index.js";
import { DaleError } from "../errors/index.js";
import { buildPolicies, type Policies, policiesShape } from "../ledger/index.js";

export type LoadedPolicies =
  | { readonly ok: true; readonly policies: Policies; readonly yaml: YamlFile }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads and checks policies.yaml. Never rejects. */
export async function readPoliciesFile(file: string): Promise<LoadedPolicies> {
  const parsed = await readYaml(file);
  if (!parsed.ok) return parsed;
  const { yaml } = parsed;
  const checked = checkShape(policiesShape, yaml, yaml.value ?? {});
  return checked.ok ? { ok: true, policies: buildPolicies(checked.value), yaml } : checked;
}

/**
 * policies.yaml for an app of its own.
 * @throws DaleError `config_invalid`, its message one line a problem: `file:line:col: error: …`
 */
export async function loadPolicies(file: string): Promise<Policies> {
  const read = await readPoliciesFile(file);
  if (read.ok) return read.policies;
  throw new DaleError("config_invalid", read.problems.map((problem) => formatProblem(problem)).join("\n"));
}
