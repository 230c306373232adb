/**
 * The scripted model: patterns and replies from a YAML file instead of a language model. What the demo and most tests
 * run on. See docs/scripted-model.md.
 */
export { checkScript, loadScript } from "./compile-script.js";
export type { Script } from "./script.js";
export { createScriptedModel } from "./scripted-model.js";
