// `npm run bench [name …]`: builds, then runs each file of bench/ in a process of its own and prints what it measured.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ensureDependencies, ensureNode, ensureRedis, root } from "./setup.mjs";

ensureNode();
ensureDependencies();
ensureRedis();
const { ensureBuild } = await import("./build.mjs");
ensureBuild();
const { build } = await import("vite");

const wanted = process.argv.slice(2);
const folder = join(root, "node_modules", ".cache", "dale-bench");
mkdirSync(folder, { recursive: true });
const names = readdirSync(join(root, "bench"))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => basename(file, ".ts"))
  .filter((name) => wanted.length === 0 || wanted.includes(name));

for (const name of names) {
  const { output } = await build({
    configFile: false,
    root,
    logLevel: "error",
    build: { ssr: join(root, "bench", `${name}.ts`), write: false, minify: false, target: "node20" },
  });
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, output[0].code);
  console.log(`\n── ${name}`);
  const { status } = spawnSync(process.execPath, [file], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
