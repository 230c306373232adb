// Everything that CI checks, in the order in which a mistake is found soonest. Stops at the first step that fails.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensureBuild } from "./build.mjs";
import { root } from "./setup.mjs";

const bin = (name) => join(root, "node_modules", ".bin", name);
const steps = [
  ["format and lint", bin("biome"), ["check", "--error-on-warnings", "."]],
  ["types", bin("tsc"), ["--noEmit"]],
  ["types of the chat page", bin("tsc"), ["-p", "adapters/webchat/page"]],
  ["boundaries", process.execPath, ["scripts/boundaries.mjs"]],
  ["dead code", bin("knip"), []],
  ["build", undefined, []],
  [
    "tests",
    bin("vitest"),
    ["run", ...["unit", "contracts", "integration", "attacks", "e2e"].flatMap((p) => ["--project", p])],
  ],
];

for (const [name, command, words] of steps) {
  const began = Date.now();
  console.log(`\n── ${name}`);
  if (command) {
    const { status } = spawnSync(command, words, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    if (status !== 0) {
      console.error(`\n${name}: failed`);
      process.exit(status ?? 1);
    }
  } else ensureBuild();
  console.log(`── ${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
}
