// What a fresh machine needs, step by step; every step does nothing when its work is done already.
// Only Node's own modules: it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Says one sentence and ends: for everything that the person at the terminal has to settle. */
function giveUp(sentence) {
  console.error(`\n${sentence}\n`);
  process.exit(1);
}

export function ensureNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    giveUp(`Dale needs Node.js 20.19 or newer; this is ${process.versions.node}. Install it from nodejs.org.`);
  }
}

/** Installs what package-lock.json says, once per lockfile. */
export function ensureDependencies() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(root, "node_modules", ".dale-lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  console.log("Installing dependencies …");
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], "The dependencies could not be installed.");
  writeFileSync(stamp, lock);
}

export function ensureRedis() {
  if (answers("redis-server", ["--version"])) return;
  console.log("Installing redis-server …");
  install({ debian: "redis-server", brew: "redis" });
  if (!answers("redis-server", ["--version"])) {
    giveUp("Dale needs redis-server (7 or newer) on the PATH: please install Redis and run this again.");
  }
}

/** The browser tests drive a real Chromium. @returns its path */
export function ensureChromium() {
  const found = findChromium();
  if (found) return found;
  console.log("Installing chromium …");
  install({ debian: "chromium", brew: "--cask chromium" });
  return (
    findChromium() ??
    giveUp("The browser tests need Chromium: please install it, or set CHROMIUM_PATH, and run this again.")
  );
}

function findChromium() {
  const places = [
    process.env.CHROMIUM_PATH,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ];
  return places.find((place) => place && existsSync(place));
}

/** From Debian's packages where root or a silent sudo allows, with Homebrew on macOS; else it does nothing. */
function install({ debian, brew }) {
  if (process.platform === "darwin" && answers("brew", ["--version"])) {
    spawnSync("brew", ["install", ...brew.split(" ")], { stdio: ["ignore", "inherit", "inherit"] });
    return;
  }
  if (!answers("apt-get", ["--version"])) return;
  const asRoot = process.getuid?.() === 0 ? [] : answers("sudo", ["-n", "true"]) ? ["sudo", "-n"] : undefined;
  if (!asRoot) return;
  const env = ["env", "DEBIAN_FRONTEND=noninteractive"];
  const apt = (...words) => {
    const [command, ...rest] = [...asRoot, ...env, "apt-get", ...words];
    return spawnSync(command, rest, { stdio: ["ignore", "ignore", "inherit"] }).status === 0;
  };
  const get = () => apt("install", "-y", "--no-install-recommends", debian);
  if (!get()) {
    apt("update");
    get();
  }
}

function answers(command, words) {
  return spawnSync(command, words, { stdio: "ignore" }).status === 0;
}

function run(command, words, sorry) {
  const { status } = spawnSync(command, words, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) giveUp(sorry);
}
