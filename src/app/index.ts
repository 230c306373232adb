/**
 * Puts the rooms together: configuration and agents in, a running Dale out. It holds no rule of its own.
 */
export { type Boot, boot, type Loaded, report } from "./boot.js";
export type { DaleConfig, Role } from "./config/index.js";
export { createDale, type Dale } from "./dale.js";
export { examine, type Finding } from "./examine.js";
export { createLogger } from "./logger.js";
