import { AsyncLocalStorage } from "node:async_hooks";
import { readArgs } from "./arguments.js";
import { type Confirmation, confirmationOf, isRef, readToolName } from "./confirmation.js";
import { unknownKey } from "./options.js";

/** Whose confirmations these are. A session's and a trace's never meet. */
export type Scope = { readonly kind: "session"; readonly id: string } | { readonly kind: "trace"; readonly id: string };

/**
 * A person's yes that another process was given, on its way with a job. With any other key it counts for nothing: what is
 * more than that (a no, a reviewer's word) is recorded where it is given.
 */
export interface CarriedConfirmation {
  readonly toolName: string;
  readonly args?: unknown;
  /** Good for one call, however often the job is retried. */
  readonly ref: string;
  /** When it was given, ISO 8601 with a zone. */
  readonly at?: string;
  /** Or how long ago, ms. Neither: now. */
  readonly ageMs?: number;
}

export interface LedgerContext {
  readonly sessionId?: string;
  /** Used where there is no session. */
  readonly traceId?: string;
  readonly confirmations?: readonly CarriedConfirmation[];
}

export interface Surroundings {
  readonly scope?: Scope;
  /** Newest first. */
  readonly carried: readonly Confirmation[];
}

/** Ms for which a confirmation can be used at most, whatever a rule says. */
export const keptMs = 3_600_000;
/** Confirmations that are kept of one session, and that a context can carry. */
export const mostOfSession = 50;

const storage = new AsyncLocalStorage<Surroundings>();

export function surroundings(): Surroundings {
  return storage.getStore() ?? { carried: [] };
}

/**
 * Runs `fn` with whose confirmations are recorded and looked for in it. A context inside another one adds to it; one that
 * names another session (or trace) has nothing of the outer one.
 * @param now ms since 1970
 * @returns what `fn` returns
 */
export function runInContext<T>(context: unknown, fn: () => T, now: () => number): T {
  return storage.run(readContext(context, surroundings(), now), fn);
}

export function writeScope(scope: Scope): string {
  return `${scope.kind}:${scope.id}`;
}

/** Never throws: what cannot be read of a context is not there. */
function readContext(context: unknown, outer: Surroundings, now: () => number): Surroundings {
  const scope = readScope(context);
  const carried = readCarried(context, now);
  const same = scope === undefined || (outer.scope !== undefined && writeScope(outer.scope) === writeScope(scope));
  const all = same ? [...carried, ...outer.carried] : carried;
  const within = scope ?? outer.scope;
  return { ...(within === undefined ? {} : { scope: within }), carried: newestFirst(all).slice(0, mostOfSession) };
}

function readScope(context: unknown): Scope | undefined {
  const session = textOf(context, "sessionId");
  if (session !== undefined) return { kind: "session", id: session };
  const trace = textOf(context, "traceId");
  return trace === undefined ? undefined : { kind: "trace", id: trace };
}

function textOf(owner: unknown, key: string): string | undefined {
  const value = read(owner, key);
  return isContextId(value) ? value : undefined;
}

/** Ids of sessions and traces are 1 to 512 characters. */
export function isContextId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 512;
}

function readCarried(context: unknown, now: () => number): readonly Confirmation[] {
  const list = read(context, "confirmations");
  const stated = read(list, "length");
  const length = typeof stated === "number" ? Math.min(stated, 1000) : 0;
  const carried: Confirmation[] = [];
  for (let index = 0; index < length; index++) {
    const confirmation = carry(read(list, index), now());
    if (confirmation !== undefined) carried.push(confirmation);
  }
  return carried;
}

const carriedKeys = ["toolName", "args", "ref", "at", "ageMs"];

/** Times that lie in the future, or more than an hour back, are no confirmation's. */
function carry(given: unknown, now: number): Confirmation | undefined {
  const tool = readToolName(read(given, "toolName"));
  const ref = read(given, "ref");
  const at = timeOf(given, now);
  if (typeof given !== "object" || given === null || tool === undefined || !isRef(ref) || at === undefined) {
    return undefined;
  }
  if (!hasOnly(given, carriedKeys)) return undefined;
  const { args } = readArgs(given, "args");
  return confirmationOf({ tool, args, kind: "confirmation", role: "user", ref, at });
}

const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;

function timeOf(given: unknown, now: number): number | undefined {
  const at = read(given, "at");
  const age = read(given, "ageMs");
  const times: number[] = [];
  if (at !== undefined) times.push(typeof at === "string" && iso.test(at) ? Date.parse(at) : Number.NaN);
  if (age !== undefined) times.push(typeof age === "number" ? now - age : Number.NaN);
  const time = Math.min(...times, now);
  const valid = times.every((each) => Number.isFinite(each) && each <= now) && now - time <= keptMs;
  return valid ? time : undefined;
}

function newestFirst(confirmations: readonly Confirmation[]): readonly Confirmation[] {
  return confirmations.toSorted((one, other) => other.at - one.at);
}

function hasOnly(owner: object, keys: readonly string[]): boolean {
  try {
    return unknownKey(owner, keys) === undefined;
  } catch {
    return false;
  }
}

function read(owner: unknown, key: string | number): unknown {
  try {
    return typeof owner === "object" && owner !== null ? Reflect.get(owner, key) : undefined;
  } catch {
    return undefined;
  }
}
