// `npm test`: sets up whatever is missing, then runs what CI runs.
import { ensureChromium, ensureDependencies, ensureNode, ensureRedis } from "./setup.mjs";

ensureNode();
ensureDependencies();
ensureRedis();
process.env.CHROMIUM_PATH = ensureChromium();
await import("./check.mjs");
