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
  readdirSync(join(root, folder), { recursive: true })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
    .map((file) => `${folder}/${file}`),
);
const seen = new Set(output.modules.map(({ source }) => source));
const unseen = files.filter((file) => !seen.has(file));
for (const { rule, from, to } of output.summary.violations) console.error(`${rule.name}: ${from} → ${to}`);
for (const file of unseen) console.error(`not seen: ${file}`);
if (output.summary.error > 0 || unseen.length > 0) process.exit(1);
console.log(`${files.length} modules, no room imports what it must not.`);
