import { join, relative } from "node:path";
import { loadConfig } from "../../../src/app/config/index.js";
import { folder } from "../../fixtures/folder.js";

/**
 * Loads a dale.yaml of that text, in a folder of its own.
 * @returns the configuration, and problems as `line ‹token› severity: message`
 */
export async function load(
  text: string,
  env: Readonly<Record<string, string>> = {},
  others: Readonly<Record<string, string>> = {},
) {
  const root = await folder({ "dale.yaml": text, ...others });
  const loaded = await loadConfig(join(root, "dale.yaml"), env);
  const found = loaded.problems.map(({ file, line, column, severity, message }) => {
    const source = text.split("\n")[line - 1] ?? "";
    const token = /^("[^"]*"|\$\{[^}]*\}|[^\s,:\]}]+)/.exec(source.slice(column - 1))?.[0] ?? "";
    const place = relative(root, file) === "dale.yaml" ? `${line}` : `${file}:${line}`;
    return `${place} ‹${token}› ${severity}: ${message}`;
  });
  return { root, found, config: loaded.ok ? loaded.config : undefined };
}
