import { randomBytes } from "node:crypto";
import { DaleError } from "../errors/index.js";

/** What is kept as JSON: it says which version of its shape it is. */
export interface Versioned {
  readonly version: 1;
}

/**
 * Reads a kept record back. We wrote it ourselves: a known version vouches for the rest of its shape.
 * @param what names the kind of record in errors
 * @throws DaleError `store_version` when it is no record, or of a version that this build does not know
 */
export function parseRecord<T extends Versioned>(text: string, what: string): T {
  const record = parsed(text);
  if (!isVersion1(record)) {
    throw new DaleError("store_version", `A kept ${what} has a version that this build does not know.`);
  }
  return record as T;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isVersion1(record: unknown): record is Versioned {
  return typeof record === "object" && record !== null && "version" in record && record.version === 1;
}

/**
 * A record that is changed by compare-and-set is kept as `<revision> <json>`. A revision counts the record's changes and
 * ends with something random, so that a writer whose request was sent twice (a connection broke) recognises its own.
 */
export interface Revised<T> {
  /** "0" for a record that is not there. */
  readonly revision: string;
  readonly record: T | undefined;
}

export function parseRevised<T extends Versioned>(raw: string | null | undefined, what: string): Revised<T> {
  if (raw === null || raw === undefined) return { revision: "0", record: undefined };
  const space = raw.indexOf(" ");
  return { revision: raw.slice(0, space), record: parseRecord<T>(raw.slice(space + 1), what) };
}

export function nextRevision(seen: string): string {
  return `${Number.parseInt(seen, 10) + 1}.${randomBytes(6).toString("base64url")}`;
}

export function revised(revision: string, record: Versioned): string {
  return `${revision} ${JSON.stringify(record)}`;
}

/**
 * Begins a script that swaps such a record: KEYS[1] is the record, ARGV[1] the revision that was seen, ARGV[2] the next
 * one. The script goes on when the record is still at the first; else it answers 0, or 1 when it is at the second already.
 */
export const swapLua = `
local revision = string.match(redis.call('GETRANGE', KEYS[1], 0, 40), '^(%S+) ') or '0'
if revision == ARGV[2] then return 1 end
if revision ~= ARGV[1] then return 0 end
`;
