import { DaleError } from "../errors/index.js";

/** Names an error without its texts: hosts, credentials and data stay out of logs. */
export function errorCode(error: unknown): string {
  if (error instanceof DaleError)
    return error.cause === undefined ? error.code : `${error.code}/${errorCode(error.cause)}`;
  if (!(error instanceof Error)) return "none";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
