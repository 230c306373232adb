/**
 * The one base of every error that Dale throws. It gives an error a stable `code`, its `cause`, and whether trying
 * the same thing again may help. It words nothing for people: that is the business of whoever shows the error.
 * The catalogue in `catalogue.ts` lists every code; a test holds it equal to docs/errors.md.
 */
export { type ErrorCode, errorCatalogue } from "./catalogue.js";
export { DaleError, type DaleErrorOptions, isRetryable } from "./dale-error.js";
