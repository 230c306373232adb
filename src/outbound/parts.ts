import { DaleError } from "../errors/index.js";
import type { OutboundPart } from "./ports.js";

/** Id of the n-th part (from 1) of a turn's answer: a turn that ran twice makes the same ids and cannot send twice. */
export function partId(turn: string, index: number): string {
  return `out-${turn}-${index}`;
}

/** Reads a part back from the queue. @throws DaleError `store_version` for one that this build does not know */
export function parseOutboundPart(data: unknown): OutboundPart {
  if (isPart(data)) return data;
  throw new DaleError("store_version", "An outbound job has a version that this build does not know.");
}

function isPart(data: unknown): data is OutboundPart {
  return typeof data === "object" && data !== null && "version" in data && data.version === 1 && "address" in data;
}
