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
 * Parses one JSON value from the raw text, as RFC 8259 has it, and refuses what `JSON.parse` would silently change.
 * Keys keep their order, but for keys that are array indices ("7"), which JavaScript puts first.
 *
 * @returns reason and message (with the position in UTF-16 units) instead of an exception
 */
export function parseStrict(text: string): JsonCheck {
  try {
    if (Buffer.byteLength(text) > maxBytes) throw new Refused("too_large");
    const reader = new Reader(text);
    return { ok: true, value: reader.whole() };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ok: false, reason: error.reason, message: error.message };
  }
}

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const nonFinite = /[+-]?(?:NaN|Infinity)/y;
const plainString = /[^"\\\u0000-\u001f]*/y;
const fourDigits = /[0-9a-fA-F]{4}/y;
const space = /[ \t\n\r]*/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  whole(): JsonValue {
    this.take(space);
    const value = this.value(0);
    this.take(space);
    if (this.at < this.text.length) throw this.refused("trailing_text");
    return value;
  }

  /** @param depth containers around this value */
  private value(depth: number): JsonValue {
    switch (this.text[this.at]) {
      case "{":
        return this.object(depth + 1);
      case "[":
        return this.array(depth + 1);
      case '"':
        return this.string();
      case "t":
        return this.literal("true", true);
      case "f":
        return this.literal("false", false);
      case "n":
        return this.literal("null", null);
      default:
        return this.number();
    }
  }

  private object(depth: number): JsonValue {
    const members: Record<string, JsonValue> = Object.create(null);
    this.list(depth, "}", () => {
      if (this.text[this.at] !== '"') throw this.refused("syntax");
      const start = this.at;
      const key = this.string();
      checkKey(key, `At position ${start}.`);
      if (Object.hasOwn(members, key)) throw this.refused("duplicate_key", start);
      this.take(space);
      this.character(":");
      this.take(space);
      members[key] = this.value(depth);
    });
    return members;
  }

  private array(depth: number): JsonValue {
    const items: JsonValue[] = [];
    this.list(depth, "]", () => items.push(this.value(depth)));
    return items;
  }

  private list(depth: number, end: "}" | "]", item: () => void): void {
    if (depth > maxDepth) throw this.refused("too_deep");
    this.at++;
    this.take(space);
    if (this.text[this.at] === end) {
      this.at++;
      return;
    }
    for (;;) {
      item();
      this.take(space);
      if (this.text[this.at] === end) break;
      this.character(",");
      this.take(space);
    }
    this.at++;
  }

  private string(): string {
    const start = this.at;
    this.at++;
    let read = this.take(plainString);
    while (this.text[this.at] === "\\") {
      this.at++;
      read += this.escape() + this.take(plainString);
    }
    this.character('"');
    return wellFormed(read, `At position ${start}.`);
  }

  private escape(): string {
    const kind = this.text.charAt(this.at);
    const character = escapes[kind];
    if (character === undefined && kind !== "u") throw this.refused("syntax");
    this.at++;
    if (character !== undefined) return character;
    const code = this.take(fourDigits);
    if (code === "") throw this.refused("syntax");
    return String.fromCharCode(Number.parseInt(code, 16));
  }

  private literal<Value>(word: string, value: Value): Value {
    if (!this.text.startsWith(word, this.at)) throw this.refused("syntax");
    this.at += word.length;
    return value;
  }

  private number(): number {
    const start = this.at;
    const written = this.take(number);
    if (written === "") throw this.refused(this.take(nonFinite) === "" ? "syntax" : "not_finite", start);
    const value = Number(written);
    if (!Number.isFinite(value)) throw this.refused("number_overflow", start);
    if (value === 0 && /^[^eE]*[1-9]/.test(written)) throw this.refused("number_underflow", start);
    if (isBeyond(written, value)) throw this.refused("integer_too_large", start);
    return value === 0 ? 0 : value;
  }

  private character(expected: string): void {
    if (this.text[this.at] !== expected) throw this.refused("syntax");
    this.at++;
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const taken = pattern.exec(this.text)?.[0] ?? "";
    this.at += taken.length;
    return taken;
  }

  private refused(reason: Refused["reason"], at = this.at): Refused {
    return new Refused(reason, `At position ${at}.`);
  }
}

/** Above 2^53 every double is an integer. 2^53 itself is refused where it was written as something else (2^53 + 1). */
function isBeyond(written: string, value: number): boolean {
  const size = Math.abs(value);
  return size > largestInteger || (size === largestInteger && !/^-?9007199254740992(?:\.0+)?$/.test(written));
}
