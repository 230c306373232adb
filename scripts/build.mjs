// Compiles src and adapters to dist, and copies what is no TypeScript. Does nothing when dist is up to date.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./setup.mjs";

const stamp = join(root, "dist", ".stamp");

export function ensureBuild() {
  const state = sources();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === state) return;
  console.log("Building …");
  rmSync(join(root, "dist"), { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(1);
  for (const folder of ["adapters/webchat/page", "src/http/pages"]) {
    if (existsSync(join(root, folder))) cpSync(join(root, folder), join(root, "dist", folder), { recursive: true });
  }
  chmodSync(join(root, "dist", "src", "cli", "main.js"), 0o755);
  writeFileSync(stamp, state);
}

/** A digest of names, sizes and times of everything that goes into dist. */
function sources() {
  const hash = createHash("sha256");
  const add = (path) => {
    const { mtimeMs, size } = statSync(join(root, path));
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  };
  for (const file of ["package-lock.json", "tsconfig.json", "tsconfig.build.json"]) add(file);
  for (const folder of ["src", "adapters"]) {
    const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    for (const file of files.sort((a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1))) {
      if (file.isFile()) add(join(file.parentPath, file.name).slice(root.length + 1));
    }
  }
  return hash.digest("hex");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ensureBuild();
