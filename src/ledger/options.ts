import { DaleError } from "../errors/index.js";

/**
 * The first key of an object that is none of the known ones: a misspelt option would else be taken for one that was left
 * out. Inherited keys count too, but for those that every object has.
 * @throws whatever the object throws when it is asked for its keys
 */
export function unknownKey(owner: object, known: readonly string[]): string | undefined {
  for (let at: object = owner; ; ) {
    const above: object | null = Object.getPrototypeOf(at);
    if (above === null && at !== owner) return undefined;
    const found = Reflect.ownKeys(at).find((key) => !isKnown(key) && !(at !== owner && key === "constructor"));
    if (found !== undefined) return String(found);
    if (above === null) return undefined;
    at = above;
  }

  function isKnown(key: string | symbol): boolean {
    return typeof key === "string" && known.includes(key);
  }
}

/**
 * For options that a developer writes.
 * @param whose as the message names it, e.g. `guardTools`
 * @throws DaleError `config_invalid` for what is no object, or has a key that is not known
 */
export function checkOptions(options: unknown, known: readonly string[], whose: string): asserts options is object {
  const expected = `{${known.join(", ")}}`;
  if (typeof options !== "object" || options === null) {
    throw new DaleError("config_invalid", `The options of ${whose} have to be an object ${expected}.`);
  }
  const unknown = unknownKey(options, known);
  if (unknown === undefined) return;
  throw new DaleError("config_invalid", `The options of ${whose} are ${expected}: "${unknown}" is none of them.`);
}
