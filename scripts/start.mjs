// `npm start`: sets up whatever is missing, then runs the demo: its back end, a private Redis, the agent without any
// key, webchat and console on loopback.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ensureBuild } from "./build.mjs";
import { ensureDependencies, ensureNode, ensureRedis, root } from "./setup.mjs";

ensureNode();
ensureDependencies();
ensureRedis();
ensureBuild();

const example = join(root, "examples", "cobranzas");
const backEnd = spawn(process.execPath, [join(example, "backend.mjs"), "0"], {
  stdio: ["ignore", "pipe", "inherit", "ipc"],
});
const praxis = await address(backEnd);
const port = process.env.DALE_PORT ?? String(await freePort(8080));
const dale = spawn(
  process.execPath,
  [
    join(root, "dist", "src", "cli", "main.js"),
    "start",
    "--config",
    join(example, "dale.yaml"),
    ...process.argv.slice(2),
  ],
  { stdio: ["ignore", "inherit", "inherit", "ipc"], env: { ...process.env, PRAXIS_URL: praxis, DALE_PORT: port } },
);

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => dale.kill("SIGTERM"));
dale.once("exit", (code) => {
  backEnd.kill("SIGTERM");
  process.exitCode = code ?? 1;
});
backEnd.once("exit", () => dale.kill("SIGTERM"));

/** The first URL that a child prints. */
function address(child) {
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("The demo's back end did not start.")));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /https?:\/\/\S+/.exec(line);
      if (url) resolve(url[0]);
    });
  });
}

/** The first port from `port` on that nobody uses on loopback. */
function freePort(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(freePort(port + 1)));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(port)));
  });
}
