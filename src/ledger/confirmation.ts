import type { JsonValue } from "../canonical/index.js";
import { type ReadArguments, readArgs } from "./arguments.js";
import { type Binding, bindTo } from "./binding.js";
import { schemeFor } from "./hashing.js";
import { unknownKey } from "./options.js";
import { parsePath, type ValuePath } from "./path.js";

export const confirmationKinds = ["confirmation", "human_review", "identity_verified", "risk_profile"] as const;
export const confirmationOutcomes = ["approved", "rejected", "pending"] as const;
export const actorRoles = ["user", "agent_operator", "reviewer", "system"] as const;

export type ConfirmationKind = (typeof confirmationKinds)[number];
export type ConfirmationOutcome = (typeof confirmationOutcomes)[number];
export type ActorRole = (typeof actorRoles)[number];

/** That somebody was asked about a call, and what they said. As it is kept: hashes, never arguments. */
export interface Confirmation {
  readonly version: 1;
  readonly id: string;
  readonly tool: string;
  readonly kind: ConfirmationKind;
  readonly outcome: ConfirmationOutcome;
  readonly role: ActorRole;
  /** The app's own name for it; good for one call, whoever rebuilds the confirmation. */
  readonly ref?: string;
  /** Ms since 1970. */
  readonly at: number;
  readonly binding: Binding;
}

/** A yes that was given elsewhere than in the ledger, as one of its confirmations. It comes with the call and is not kept. */
export function confirmationOf(given: {
  readonly tool: string;
  /** Absent: any call of the tool. */
  readonly args: JsonValue | undefined;
  readonly kind: ConfirmationKind;
  readonly role: ActorRole;
  readonly ref: string;
  readonly at: number;
}): Confirmation {
  const { args, ...facts } = given;
  // Whoever has this object has the arguments too: nothing is hidden by hiding their hash.
  const binding = bindTo(args, schemeFor(false));
  return { version: 1, id: `carried:${given.ref}`, outcome: "approved", ...facts, binding };
}

/** What an app hands to `confirmToolCall`. */
export interface ConfirmationInput {
  readonly toolName: string;
  /** The arguments that were asked about. Left out: any call of the tool. */
  readonly args?: unknown;
  /** Letters, digits, `. _ : -`, 128 at most. */
  readonly ref?: string;
  /** Default `confirmation`. */
  readonly kind?: ConfirmationKind;
  /** Default `approved`. */
  readonly outcome?: ConfirmationOutcome;
  /** Default `user`. */
  readonly actorRole?: ActorRole;
  /** Paths into the arguments (`order_id`, `items[0].id`) which alone have to be the same. */
  readonly bindFields?: readonly string[];
}

/** The input, read once. */
export interface ReadConfirmation {
  readonly tool: string;
  /** A copy. Absent where none were given, or where they cannot be hashed as a whole. */
  readonly args?: JsonValue;
  /** Whether something that it is about cannot be hashed: the fields that bind, or else the arguments. */
  readonly unhashable: boolean;
  readonly ref?: string;
  readonly kind: ConfirmationKind;
  readonly outcome: ConfirmationOutcome;
  readonly role: ActorRole;
  readonly bindFields?: readonly ValuePath[];
  /** What stands at a field that binds. Absent: what stands there in `args`. */
  readonly fieldAt?: ReadArguments["fieldAt"];
}

const options = ["toolName", "args", "ref", "kind", "outcome", "actorRole", "bindFields"];
const mostBindFields = 32;

/** Reads whatever it is handed; never throws. @returns what is wrong with what is no valid input */
export function readConfirmation(input: unknown): ReadConfirmation | "invalid_input" | "unknown_option" {
  try {
    if (typeof input !== "object" || input === null) return "invalid_input";
    if (unknownKey(input, options) !== undefined) return "unknown_option";
    const tool = readToolName(Reflect.get(input, "toolName"));
    const kind = oneOf(confirmationKinds, Reflect.get(input, "kind"));
    const outcome = oneOf(confirmationOutcomes, Reflect.get(input, "outcome"));
    const role = oneOf(actorRoles, Reflect.get(input, "actorRole"));
    const ref: unknown = Reflect.get(input, "ref");
    const bindFields = readPaths(Reflect.get(input, "bindFields"));
    if (tool === undefined || kind === undefined || outcome === undefined || role === undefined) return "invalid_input";
    if ((ref !== undefined && !isRef(ref)) || bindFields === "invalid") return "invalid_input";
    const { args, unhashable, fieldAt } = readArgs(input, "args");
    return {
      tool,
      kind,
      outcome,
      role,
      unhashable: unhashable && (bindFields?.some((path) => fieldAt(path) === undefined) ?? true),
      ...(args === undefined ? {} : { args }),
      ...(ref === undefined ? {} : { ref }),
      ...(bindFields === undefined ? {} : { bindFields, fieldAt }),
    };
  } catch {
    return "invalid_input";
  }
}

/** @returns undefined for what cannot be a tool's name */
export function readToolName(value: unknown): string | undefined {
  return typeof value === "string" && /^[^\p{Cc}\p{Cs}]{1,256}$/u.test(value) ? value : undefined;
}

export function isRef(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z0-9._:-]{1,128}$/.test(value);
}

function oneOf<Word extends string>(words: readonly [Word, ...Word[]], value: unknown): Word | undefined {
  return value === undefined ? words[0] : words.find((word) => word === value);
}

function readPaths(value: unknown): readonly ValuePath[] | "invalid" | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return "invalid";
  const { length } = value;
  if (!(length > 0 && length <= mostBindFields)) return "invalid";
  const paths: ValuePath[] = [];
  for (let index = 0; index < length; index++) {
    const each: unknown = value[index];
    const path = typeof each === "string" ? parsePath(each) : undefined;
    if (path === undefined) return "invalid";
    paths.push(path);
  }
  return paths;
}
