/**
 * dale.yaml → one checked, immutable `DaleConfig`, or problems with file, line, column and what to write instead.
 * It opens no connection and starts nothing; a secret never appears in a problem.
 */
export type * from "./config.js";
export { loadConfig } from "./load.js";
