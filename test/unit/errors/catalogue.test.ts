import { readFile, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { DaleError, errorCatalogue, isRetryable } from "../../../src/errors/index.js";

const file = new URL("../../../docs/errors.md", import.meta.url);

function table(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { retryable, meaning }]) => `| \`${code}\` | ${meaning} | ${retryable ? "yes" : "no"} |`,
  );
  return ["| code | meaning | trying again may help |", "| --- | --- | --- |", ...rows].join("\n");
}

it("docs/errors.md lists every code as the catalogue has it (UPDATE_DOCS=1 writes it)", async () => {
  const text = `# Error codes\n\nWhat \`code\` says in logs, in the API's errors and in a turn's record.\n\n${table()}\n`;
  if (process.env.UPDATE_DOCS) await writeFile(file, text);
  expect(await readFile(file, "utf8")).toBe(text);
});

it("says of an error whether trying again may help, as the catalogue has it unless told otherwise", () => {
  expect(isRetryable(new DaleError("store_unavailable", "away"))).toBe(true);
  expect(isRetryable(new DaleError("turn_timeout", "late"))).toBe(false);
  expect(isRetryable(new DaleError("turn_timeout", "late", { retryable: true }))).toBe(true);
  expect(isRetryable(new TypeError("who knows"))).toBe(true);
});
