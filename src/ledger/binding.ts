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

/** @param bindFields paths; absent: all arguments have to be the same */
export function bindTo(args: JsonValue | undefined, scheme: HashScheme, bindFields?: readonly ValuePath[]): Binding {
  if (args === undefined && bindFields === undefined) return { to: "tool" };
  const whole = args ?? null;
  const fields = (bindFields ?? pathsOf(whole, mostFields)).map((path) => {
    const there = args === undefined ? undefined : valueAt(args, path);
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

/**
 * Whether a binding is to these arguments.
 * @param args undefined when they cannot be hashed: then nothing that is tied to arguments is tied to them
 * @param demanded the fields that a rule wants bound; absent: what the confirmation itself is tied to decides
 */
export function isBoundTo(
  binding: Binding,
  args: JsonValue | undefined,
  demanded: readonly ValuePath[] | undefined,
): "same" | "other" | "not_comparable" {
  if (binding.to === "tool") return demanded === undefined ? "same" : "other";
  if (args === undefined) return "other";
  const { scheme, fields } = binding;
  if (hashOf(null, scheme) === undefined) return "not_comparable";
  const sameField = (path: ValuePath): boolean => {
    const there = valueAt(args, path);
    return there !== undefined && fields[writePath(path)] === hashOf(there, scheme);
  };
  const own = Object.keys(fields).map((each) => parsePath(each) ?? []);
  if (binding.only && !own.every(sameField)) return "other";
  if (demanded === undefined) return binding.only || binding.hash === hashOf(args, scheme) ? "same" : "other";
  const whole = !binding.only && binding.hash === hashOf(args, scheme);
  const met = demanded.every((path) => (whole ? valueAt(args, path) !== undefined : sameField(path)));
  return met ? "same" : "other";
}
