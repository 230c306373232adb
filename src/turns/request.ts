import { DaleError } from "../errors/index.js";
import type { TurnRequest } from "./ports.js";

/** Reads a request back from the queue. @throws DaleError `store_version` for one that this build does not know */
export function parseTurnRequest(data: unknown): TurnRequest {
  if (isRequest(data)) return data;
  throw new DaleError("store_version", "An inbound job has a version that this build does not know.");
}

function isRequest(data: unknown): data is TurnRequest {
  if (typeof data !== "object" || data === null || !("version" in data) || !("kind" in data)) return false;
  return data.version === 1 && (data.kind === "message" || data.kind === "run" || data.kind === "approval");
}
