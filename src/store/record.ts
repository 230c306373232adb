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
 * A record that is changed by compare-and-set is kept as `<revision> <json>`; the revision counts its changes. Both
 * scripts that swap such records begin with `revisionLua`.
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

/** The record's next form, one revision on. */
export function nextRevision(seen: string, record: Versioned): string {
  return `${Number(seen) + 1} ${JSON.stringify(record)}`;
}

/** Lua: `revision(key)` is what `Revised.revision` was read as, without reading the record. */
export const revisionLua = `
local function revision(key)
  return string.match(redis.call('GETRANGE', key, 0, 20), '^(%d+) ') or '0'
end
`;
