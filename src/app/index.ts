/**
 * Puts the rooms together: configuration and agents in, a running Dale out. It holds no rule of its own.
 */

export { formatProblem } from "../agents/spec/index.js";
export { letsPass } from "../ledger/index.js";
export { type Boot, boot, type Loaded, report } from "./boot.js";
export type { DaleConfig, Role } from "./config/index.js";
export { createDale, type Dale } from "./dale.js";
export { openEvidenceHere } from "./evidence-here.js";
export { examine, type Finding } from "./examine.js";
export { createLogger } from "./logger.js";
export { readPoliciesFile } from "./policies.js";
export { type ReplayedCall, replayCalls } from "./policy-replay.js";
