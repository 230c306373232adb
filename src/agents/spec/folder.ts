import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Problem } from "./problem.js";
import { readYaml, type YamlFile } from "./yaml-file.js";

/** The YAML files of a folder whose names end in one of the suffixes, in the order of their names. Bad ones are told. */
export async function readFolder(
  folder: string | undefined,
  suffixes: readonly string[],
  problems: Problem[],
): Promise<readonly YamlFile[]> {
  if (folder === undefined) return [];
  let names: string[];
  try {
    names = (await readdir(folder)).sort();
  } catch {
    problems.push({
      file: folder,
      line: 1,
      column: 1,
      severity: "error",
      message: "there is no such folder, or it may not be read: check the path",
    });
    return [];
  }
  const files: YamlFile[] = [];
  for (const name of names) {
    if (!suffixes.some((suffix) => name.endsWith(`${suffix}.yaml`) || name.endsWith(`${suffix}.yml`))) continue;
    const parsed = await readYaml(join(folder, name));
    if (!parsed.ok) problems.push(...parsed.problems);
    else if (parsed.yaml.value === undefined)
      problems.push(parsed.yaml.problem([], "the file is empty: write one, or delete it"));
    else files.push(parsed.yaml);
  }
  return files;
}
