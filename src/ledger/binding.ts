import type { JsonValue } from "../canonical/index.js";
import { type HashScheme, hashOf } from "./hashing.js";
import { parsePath, pathsOf, type ValuePath, valueAt, writePath } from "./path.js";

/**
 * What a confirmation is tied to, besides its tool. Hashes only. `fields` are hashes by path: of the fields that the app
 * named (`bindFields`), which then alone have to be the same (`only`), or else of what is in the arguments, for rules that
 * name the fields that bind.
 */
export type Binding =
  | { readonly to: "tool" }
  | {
      readonly to: "arguments";
      readonly scheme: HashScheme;
      readonly hash: string;
      /** Empty for a path that the arguments do not have: it matches nothing. */
      readonly fields: Readonly<Record<string, string>>;
      readonly only: boolean;
    };

/** Fields of one confirmation that a rule's `bind_fields` can name where the app itself named none. */
const mostFields = 32;

/**
 * @param bindFields paths; absent: all arguments have to be the same
 * @param fieldAt what stands at a path where `args` cannot be hashed as a whole
 */
export function bindTo(
  args: JsonValue | undefined,
  scheme: HashScheme,
  bindFields?: readonly ValuePath[],
  fieldAt = (path: ValuePath) => (args === undefined ? undefined : valueAt(args, path)),
): Binding {
  if (args === undefined && bindFields === undefined) return { to: "tool" };
  const whole = args ?? null;
  const fields = (bindFields ?? pathsOf(whole, mostFields)).map((path) => {
    const there = fieldAt(path);
    return [writePath(path), there === undefined ? "" : (hashOf(there, scheme) ?? "")] as const;
  });
  return {
    to: "arguments",
    scheme,
    hash: hashOf(whole, scheme) ?? "",
    fields: Object.fromEntries(fields),
    only: bindFields !== undefined,
  };
}

/** The arguments of a call, as far as they can be hashed. */
export interface HashableArguments {
  /** Undefined when they cannot be hashed as a whole. */
  readonly args: JsonValue | undefined;
  /** What stands at a path beside what cannot be hashed. Absent: nothing. */
  readonly fieldAt?: (path: ValuePath) => JsonValue | undefined;
}

/**
 * Whether a binding is to these arguments. Where they cannot be hashed as a whole, only fields can be the same.
 * @param demanded the fields that a rule wants bound; absent: what the confirmation itself is tied to decides
 */
export function isBoundTo(
  binding: Binding,
  { args, fieldAt = () => undefined }: HashableArguments,
  demanded: readonly ValuePath[] | undefined,
): "same" | "other" | "not_comparable" {
  if (binding.to === "tool") return demanded === undefined ? "same" : "other";
  const { scheme, fields, only } = binding;
  const standing = (path: ValuePath) => (args === undefined ? fieldAt(path) : valueAt(args, path));
  const own = only ? Object.keys(fields).map((each) => parsePath(each) ?? []) : [];
  const compared = [...own, ...(demanded ?? [])];
  // What is not there, or has no hash, is another one whoever made the hash.
  if (args === undefined && (compared.length === 0 || compared.some((path) => standing(path) === undefined))) {
    return "other";
  }
  if (hashOf(null, scheme) === undefined) return "not_comparable";
  const sameField = (path: ValuePath): boolean => {
    const there = standing(path);
    return there !== undefined && fields[writePath(path)] === hashOf(there, scheme);
  };
  if (!own.every(sameField)) return "other";
  const whole = !only && args !== undefined && binding.hash === hashOf(args, scheme);
  if (demanded === undefined) return only || whole ? "same" : "other";
  const met = demanded.every((path) => (whole ? standing(path) !== undefined : sameField(path)));
  return met ? "same" : "other";
}
