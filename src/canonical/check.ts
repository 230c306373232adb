import { canonicalize } from "./fingerprint.js";
import {
  checkKey,
  type JsonCheck,
  type JsonValue,
  largestInteger,
  maxBytes,
  maxDepth,
  Refused,
  wellFormed,
} from "./json.js";

/**
 * The same bounds as `parseStrict`, for a value that is in memory already. Properties that are `undefined` are left
 * out, as JSON has it.
 *
 * @returns a plain copy, read once, or the reason; never throws, whatever it is handed
 */
export function checkJson(value: unknown): JsonCheck {
  try {
    const copier = new Copier();
    const copy = copier.copy(value, 0);
    if (Buffer.byteLength(canonicalize(copy)) > maxBytes) throw new Refused("too_large");
    return { ok: true, value: copy };
  } catch (error) {
    const refused = error instanceof Refused ? error : new Refused("unreadable");
    return { ok: false, reason: refused.reason, message: refused.message };
  }
}

class Copier {
  private readonly ancestors = new Set<object>();
  /** A lower bound of the canonical form's length, so that a value without end is given up in time. */
  private size = 0;

  copy(value: unknown, depth: number): JsonValue {
    switch (typeof value) {
      case "string":
        this.grow(value.length + 2);
        return wellFormed(value);
      case "number":
        this.grow(1);
        return checkNumber(value);
      case "boolean":
        this.grow(4);
        return value;
      case "object":
        this.grow(2);
        return value === null ? null : this.container(value, depth + 1);
      default:
        throw new Refused("not_json", `A ${typeof value} cannot be written.`);
    }
  }

  private container(value: object, depth: number): JsonValue {
    if (depth > maxDepth) throw new Refused("too_deep");
    if (this.ancestors.has(value)) throw new Refused("cycle");
    this.ancestors.add(value);
    const copy = Array.isArray(value) ? this.array(value, depth) : this.object(value, depth);
    this.ancestors.delete(value);
    return copy;
  }

  private array(value: readonly unknown[], depth: number): JsonValue {
    const { length } = value;
    this.grow(length);
    return Array.from({ length }, (_, index) => this.copy(value[index], depth));
  }

  private object(value: object, depth: number): JsonValue {
    if (!isPlain(value)) throw new Refused("not_json", "Only plain objects and arrays can be written.");
    const copy: Record<string, JsonValue> = Object.create(null);
    for (const key of Object.keys(value)) {
      checkKey(key);
      const member: unknown = Reflect.get(value, key);
      if (member === undefined) continue;
      this.grow(wellFormed(key).length + 3);
      copy[key] = this.copy(member, depth);
    }
    return copy;
  }

  private grow(by: number): void {
    this.size += by;
    if (this.size > maxBytes) throw new Refused("too_large");
  }
}

/** `{}` of any realm, or without a prototype; no instance of anything. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function checkNumber(value: number): number {
  if (!Number.isFinite(value)) throw new Refused("not_finite");
  if (Math.abs(value) > largestInteger) throw new Refused("integer_too_large");
  return value === 0 ? 0 : value;
}
