import { checkJson, type JsonValue } from "../canonical/index.js";
import { type ValuePath, valueAt } from "./path.js";

/** A call's arguments, read once: whatever the caller's object does afterwards, these stay what they are. */
export interface ReadArguments {
  /** Absent where none were given, or where they cannot be hashed as a whole. */
  readonly args?: JsonValue;
  /** Whether some were given that cannot be hashed as a whole. */
  readonly unhashable: boolean;
  /** What stands at a path, also beside something that cannot be hashed; undefined where nothing does that can be. */
  fieldAt(path: ValuePath): JsonValue | undefined;
}

const noField = () => undefined;

/** Reads an object's arguments. Never throws. */
export function readArgs(owner: object, key: string): ReadArguments {
  let given: unknown;
  try {
    given = Reflect.get(owner, key);
  } catch {
    return { unhashable: true, fieldAt: noField };
  }
  if (given === undefined) return { unhashable: false, fieldAt: noField };
  const copy = copyArguments(given);
  if (copy === undefined) return { unhashable: true, fieldAt: noField };
  const checked = checkJson(copy.value);
  if (checked.ok) return { args: checked.value, unhashable: false, fieldAt: (path) => valueAt(checked.value, path) };
  return {
    unhashable: true,
    fieldAt(path) {
      const there = checkJson(standingAt(copy.value, path));
      return there.ok ? there.value : undefined;
    },
  };
}

/** Values in arguments, each of them at least one byte of JSON's 256 KiB; and levels, more than JSON's 32. */
const mostValues = 256 * 1024;
const mostLevels = 100;

/**
 * A deep copy of plain objects and lists, whose getters are read once. What is neither (a Date, an instance) is the same
 * one in the copy. Never throws.
 * @returns undefined for what contains itself, is too large, or throws when it is read
 */
export function copyArguments(value: unknown): { readonly value: unknown } | undefined {
  const ancestors = new Set<object>();
  let left = mostValues;

  function copy(each: unknown): unknown {
    if (--left < 0) throw new Error("too many values");
    if (!isContainer(each)) return each;
    if (ancestors.has(each) || ancestors.size === mostLevels) throw new Error("a cycle, or too deep");
    ancestors.add(each);
    const copied = Array.isArray(each) ? copyList(each) : copyObject(each);
    ancestors.delete(each);
    return copied;
  }

  function copyList(each: readonly unknown[]): unknown[] {
    const { length } = each;
    if (length > left) throw new Error("too many values");
    return Array.from({ length }, (_, index) => copy(each[index]));
  }

  function copyObject(each: object): object {
    const copied: object = Object.create(Object.getPrototypeOf(each));
    for (const key of Object.keys(each)) {
      // A data property, whatever its name: assigning `__proto__` would do something else.
      const descriptor = { value: copy(Reflect.get(each, key)), writable: true, enumerable: true, configurable: true };
      Object.defineProperty(copied, key, descriptor);
    }
    return copied;
  }

  try {
    return { value: copy(value) };
  } catch {
    return undefined;
  }
}

/** Through plain objects and lists alone: only those are the copy's own. */
function standingAt(value: unknown, path: ValuePath): unknown {
  let at = value;
  for (const step of path) {
    if (!isContainer(at) || Array.isArray(at) !== (typeof step === "number") || !Object.hasOwn(at, step)) {
      return undefined;
    }
    at = Reflect.get(at, step);
  }
  return at;
}

/** A list, or `{}` of any realm or without a prototype; no instance of anything. */
function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
