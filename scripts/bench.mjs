// Runs the benchmarks of bench/, or those that are named: `npm run bench queue gate`. One process each, one after the other.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "vite";

const names = process.argv.slice(2);
const all = readdirSync("bench")
  .filter((file) => file.endsWith(".ts"))
  .map((file) => basename(file, ".ts"));
const unknown = names.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`No such benchmark: ${unknown.join(", ")}. There are: ${all.join(", ")}.`);
  process.exit(2);
}

const folder = "node_modules/.cache/dale-bench";
mkdirSync(folder, { recursive: true });
let failed = false;
for (const name of names.length > 0 ? names : all) {
  const output = await build({
    configFile: false,
    logLevel: "error",
    build: { ssr: join("bench", `${name}.ts`), write: false, minify: false, target: "node20" },
  });
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, output.output[0].code);
  console.log(`\n${name}`);
  failed = spawnSync(process.execPath, [path], { stdio: "inherit" }).status !== 0 || failed;
}
process.exit(failed ? 1 : 0);
