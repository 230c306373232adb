// Checks who imports whom (.dependency-cruiser.cjs), and that the check saw the whole tree: with a compiler that it
// does not understand, dependency-cruiser reports no violations in no modules.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { cruise } from "dependency-cruiser";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";
import rules from "../.dependency-cruiser.cjs";
import { root } from "./setup.mjs";

const { output } = await cruise(["src", "adapters"], { ...rules.options, ruleSet: rules, validate: true }, undefined, {
  tsConfig: extractTSConfig(join(root, "tsconfig.json")),
});
const files = ["src", "adapters"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true }).filter((file) => file.endsWith(".ts")),
);
const seen = output.modules.filter(({ source }) => /^(src|adapters)\/.*\.ts$/.test(source)).length;
for (const { rule, from, to } of output.summary.violations) console.error(`${rule.name}: ${from} → ${to}`);
if (seen < files.length) console.error(`Only ${seen} of ${files.length} modules were seen.`);
if (output.summary.error > 0 || seen < files.length) process.exit(1);
console.log(`${seen} modules, no room imports what it must not.`);
