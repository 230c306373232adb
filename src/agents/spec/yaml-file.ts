import { constants } from "node:fs";
import { open } from "node:fs/promises";
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
} from "yaml";
import { findFault, MAX_DEPTH, MAX_FILE_BYTES } from "./bounds.js";
import { variable } from "./fields.js";
import type { JsonValue } from "./json.js";
import type { Problem } from "./problem.js";
import {
  type Environment,
  expandVariables,
  hasStrayOpening,
  hasVariable,
  maskVariables,
  RESERVED,
  variableOffsets,
} from "./variables.js";
import { describeYamlError } from "./yaml-errors.js";

export type Path = readonly (string | number)[];

export interface ProblemOptions {
  /** Default `error`. */
  readonly severity?: Problem["severity"];
  /** Whether the key or the value is what is wrong. Default `value`; a value that is not there is its key. */
  readonly at?: "key" | "value";
}

/** A YAML file as plain data that knows where each part of it stands. */
export interface YamlFile {
  readonly file: string;
  /** Without keys that have nothing behind them. Undefined for a file with nothing in it. */
  readonly value: JsonValue | undefined;
  /** Whether the file has something (perhaps nothing but the key) at that path. */
  has(path: Path): boolean;
  /** A problem at the path, or at the deepest part of it that is there. */
  problem(path: Path, message: string, options?: ProblemOptions): Problem;
}

export type ParsedYaml =
  | { readonly ok: true; readonly yaml: YamlFile }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Values that a file's aliases may come to in all. */
const MAX_VALUES = 50_000;

/** Reads one YAML document from a file. Every fault of file or text is a problem; it never rejects. */
export async function readYaml(file: string, variables?: Environment): Promise<ParsedYaml> {
  let bytes: Buffer;
  try {
    // A pipe that nobody writes to would otherwise never open.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) return failed(file, "this is no file: name a YAML file");
      bytes = Buffer.alloc(MAX_FILE_BYTES + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
        length += bytesRead;
        if (bytesRead === 0 || length === bytes.length) break;
      }
      bytes = bytes.subarray(0, length);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return failed(file, openingFault(error));
  }
  if (bytes.length > MAX_FILE_BYTES) return failed(file, "larger than 1 MiB: this is no file of Dale's, or split it");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return failed(file, "not UTF-8: this is no text file, or save it as UTF-8");
  }
  return parseYaml(file, text, variables);
}

function openingFault(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file: check the path";
  if (code === "EACCES" || code === "EPERM") return "may not be read: give this user the right to read it";
  if (code === "EISDIR") return "this is a folder: name a YAML file";
  return "cannot be read";
}

function failed(file: string, message: string): ParsedYaml {
  return { ok: false, problems: [{ file, line: 1, column: 1, message, severity: "error" }] };
}

/**
 * Parses one YAML 1.2 document. Strict: no tags, directives, duplicate or complex keys, no second document; aliases are
 * expanded up to a limit.
 * @param variables where given, `${NAME}` in values is replaced from it
 */
export function parseYaml(file: string, text: string, variables?: Environment): ParsedYaml {
  // A byte order mark is no column of the first line.
  const plain = text.startsWith("\ufeff") ? text.slice(1) : text;
  const lines = new LineCounter();
  const at = (offset: number, message: string): Problem => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col), message, severity: "error" };
  };
  const countLines = () => {
    lines.addNewLine(0);
    for (let i = plain.indexOf("\n"); i >= 0; i = plain.indexOf("\n", i + 1)) lines.addNewLine(i + 1);
  };

  const reserved = variables === undefined ? null : RESERVED.exec(plain);
  const fault =
    reserved === null
      ? findFault(variables === undefined ? plain : maskVariables(plain))
      : { offset: reserved.index, message: "a character of Unicode's private use area: leave it out" };
  if (fault !== undefined) {
    countLines();
    return { ok: false, problems: [at(fault.offset, fault.message)] };
  }
  const source = variables === undefined ? plain : maskVariables(plain);
  const document = parseDocument(source, {
    lineCounter: lines,
    prettyErrors: false,
    version: "1.2",
    schema: "core",
    merge: false,
    // Quadratic in the number of keys; `Reading` finds duplicates by itself.
    uniqueKeys: false,
    stringKeys: false,
    logLevel: "error",
  });
  const broken = document.errors.slice(0, 5).map((error) => at(error.pos[0], describeYamlError(error)));
  if (broken.length > 0) return { ok: false, problems: broken };

  const reading = new Reading(source, at, variables);
  const value = reading.read(document);
  if (reading.problems.length > 0) return { ok: false, problems: reading.problems.slice(0, 20) };
  return { ok: true, yaml: new LocatedYaml(file, value, document, reading.targets, lines) };
}

/** Turns nodes into plain data, once, in the order of the text. */
class Reading {
  readonly problems: Problem[] = [];
  readonly targets = new Map<Alias, Node>();
  private readonly anchors = new Map<string, Node>();
  private values = 0;

  constructor(
    private readonly source: string,
    private readonly at: (offset: number, message: string) => Problem,
    private readonly variables: Environment | undefined,
  ) {}

  read(document: Document.Parsed): JsonValue | undefined {
    return document.contents === null ? undefined : this.value(document.contents, 0);
  }

  private fail(node: Node | null, message: string, offset?: number): undefined {
    this.problems.push(this.at(offset ?? node?.range?.[0] ?? 0, message));
    return undefined;
  }

  private value(node: Node | null, depth: number): JsonValue | undefined {
    if (node === null || this.problems.length >= 20) return undefined;
    if (depth > MAX_DEPTH)
      return this.fail(node, `nested deeper than ${MAX_DEPTH} levels, or an alias that holds itself`);
    if (++this.values === MAX_VALUES + 1) return this.fail(node, "too many values: aliases repeat too much");
    if (this.values > MAX_VALUES) return undefined;
    if (isAlias(node)) {
      const target = this.anchors.get(node.source);
      if (target === undefined) return this.fail(node, "an alias of an anchor that does not stand before it");
      this.targets.set(node, target);
      return this.value(target, depth + 1);
    }
    if (node.anchor !== undefined) this.anchors.set(node.anchor, node);
    if (isMap(node)) return this.map(node.items as Pair<Node | null, Node | null>[], node, depth);
    if (isSeq(node)) return node.items.map((item) => this.value(item as Node | null, depth + 1) ?? null);
    if (isScalar(node)) return this.scalar(node);
    return undefined;
  }

  private map(pairs: readonly Pair<Node | null, Node | null>[], map: Node, depth: number): JsonValue {
    const result: Record<string, JsonValue> = {};
    const seen = new Set<string>();
    for (const pair of pairs) {
      const key = isScalar(pair.key) ? keyOf(pair.key) : undefined;
      if (key === undefined) {
        this.fail(pair.key ?? map, "a key has to be plain text: write key: value");
        continue;
      }
      if (hasVariable(key)) this.fail(pair.key, "variables may stand in values only, not in keys");
      else if (key === "__proto__" || key === "constructor" || key === "prototype")
        this.fail(pair.key, "this key is not allowed anywhere");
      else if (seen.has(key)) this.fail(pair.key, "this key stands here twice: keep one of the two");
      seen.add(key);
      const value = isEmpty(pair.value) ? undefined : this.value(pair.value, depth + 1);
      if (value !== undefined && key !== "__proto__") result[key] = value;
    }
    return result;
  }

  private scalar(node: Scalar): JsonValue | undefined {
    const { value } = node;
    if (typeof value === "string")
      return this.variables === undefined ? value : this.expand(node, value, this.variables);
    if (typeof value === "number") {
      if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
        return this.fail(node, "a number that cannot be held exactly: write it in quotes, as text");
      return value;
    }
    if (typeof value === "boolean" || value === null) return value;
    return this.fail(node, "a value of a kind that is not supported: write it in quotes, as text");
  }

  private expand(node: Scalar, text: string, variables: Environment): string {
    const [start, end] = node.range ?? [0, 0];
    if (hasStrayOpening(text)) {
      const offset = Math.max(0, this.source.slice(start, end).indexOf("${"));
      this.fail(
        node,
        `“$\{” begins no variable here: write ${variable("NAME")}, or $$\{ for the two characters`,
        start + offset,
      );
    }
    const places = variableOffsets(this.source.slice(start, end));
    return expandVariables(text, variables, (name) => {
      const place = places.findIndex((candidate) => candidate.name === name);
      const offset = place < 0 ? 0 : (places.splice(place, 1)[0]?.offset ?? 0);
      this.fail(
        node,
        `the environment has no variable ${name}: set it, or write ${variable(`${name}:-default`)}`,
        start + offset,
      );
    });
  }
}

function keyOf(key: Scalar): string | undefined {
  if (typeof key.value === "string") return key.value;
  return key.value === null || key.source === undefined ? undefined : key.source;
}

function isEmpty(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null && (node.source ?? "") === "" && !node.anchor);
}

class LocatedYaml implements YamlFile {
  constructor(
    readonly file: string,
    readonly value: JsonValue | undefined,
    private readonly document: Document.Parsed,
    private readonly targets: ReadonlyMap<Alias, Node>,
    private readonly lines: LineCounter,
  ) {}

  has(path: Path): boolean {
    return this.find(path).complete;
  }

  problem(path: Path, message: string, options: ProblemOptions = {}): Problem {
    const { offset } = this.find(path, options.at ?? "value");
    const { line, col } = this.lines.linePos(offset);
    return {
      file: this.file,
      line: Math.max(1, line),
      column: Math.max(1, col),
      message,
      severity: options.severity ?? "error",
    };
  }

  /** A part that is not there is found at the key of the deepest part that is. */
  private find(path: Path, part: "key" | "value" = "value"): { readonly offset: number; readonly complete: boolean } {
    let node: Node | null = this.document.contents;
    let key: Node | null = null;
    for (const step of path) {
      const inside = this.target(node);
      const pair: Pair<Node | null, Node | null> | undefined = isMap(inside)
        ? (inside.items as Pair<Node | null, Node | null>[]).find(
            (item) => isScalar(item.key) && keyOf(item.key) === step,
          )
        : undefined;
      if (pair !== undefined) {
        key = pair.key;
        node = isEmpty(pair.value) ? null : pair.value;
        continue;
      }
      const item: Node | null | undefined =
        isSeq(inside) && typeof step === "number" ? (inside.items[step] as Node | null | undefined) : undefined;
      if (item === undefined) return { offset: (key ?? node)?.range?.[0] ?? 0, complete: false };
      key = null;
      node = item;
    }
    const found = part === "key" ? (key ?? node) : (node ?? key);
    return { offset: found?.range?.[0] ?? 0, complete: true };
  }

  private target(node: Node | null): Node | null {
    return isAlias(node) ? (this.targets.get(node) ?? null) : node;
  }
}
