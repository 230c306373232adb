import { isJsonObject, type JsonObject, type JsonValue } from "../../canonical/index.js";
import {
  child,
  filterOf,
  listOf,
  nameOf,
  optionalChild,
  parseTemplate,
  type SyntaxNode,
  TemplateFault,
} from "./template-syntax.js";

export interface Template {
  /** @throws TemplateFault when a value is missing and `strict`, or when it would become too large */
  text(values: JsonObject, strict: boolean): string;
  /** Like `text`, but a template that is nothing but one expression keeps its value's type. */
  value(values: JsonObject, strict: boolean): JsonValue;
}

/** Longest text that a template may become, in UTF-16 code units. */
const maxOutput = 256 * 1024;
/** Nodes that one rendering may visit. */
const maxSteps = 200_000;

/**
 * A nunjucks template over plain JSON: values, filters, conditions and loops. It is interpreted, never compiled to code,
 * and sees own properties only, so that no value reaches a prototype or a function.
 * @throws TemplateFault when it cannot be read
 */
export function compileTemplate(source: string): Template {
  const root = parseTemplate(source);
  return {
    text: (values, strict) => new Rendering(strict).text(root, values),
    value(values, strict) {
      const rendering = new Rendering(strict);
      const only = soleExpression(root);
      return only === undefined ? rendering.text(root, values) : (rendering.evaluate(only, values) ?? null);
    },
  };
}

/** Whether a condition holds: it renders `true`, `1` or `yes`. */
export function holds(template: Template, values: JsonObject, strict: boolean): boolean {
  return ["true", "1", "yes"].includes(template.text(values, strict).trim().toLowerCase());
}

/** What is wrong with a template; undefined when it can be used. */
export function templateProblem(source: string): string | undefined {
  try {
    compileTemplate(source);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateFault) return error.message;
    throw error;
  }
}

function soleExpression(root: SyntaxNode): SyntaxNode | undefined {
  const [output, ...others] = listOf(root);
  if (output?.typename !== "Output" || others.length > 0) return undefined;
  const [expression, ...more] = listOf(output);
  return more.length > 0 || expression?.typename === "TemplateData" ? undefined : expression;
}

type Value = JsonValue | undefined;

/** Jinja's spellings, which files that come from there use. */
const jinjaWords: Readonly<Record<string, boolean | null>> = { True: true, False: false, None: null };

class Rendering {
  private steps = 0;
  private length = 0;

  constructor(private readonly strict: boolean) {}

  text(node: SyntaxNode, values: JsonObject): string {
    this.step();
    switch (node.typename) {
      case "Root":
      case "NodeList":
        return listOf(node)
          .map((inner) => this.text(inner, values))
          .join("");
      case "Output":
        return listOf(node)
          .map((inner) => this.sized(asText(this.evaluate(inner, values))))
          .join("");
      case "If": {
        const branch = isTrue(this.evaluate(child(node, "cond"), values, true)) ? "body" : "else_";
        const body = optionalChild(node, branch);
        return body === undefined ? "" : this.text(body, values);
      }
      case "For":
        return this.loop(node, values);
      default:
        throw new TemplateFault("this stands where a template cannot have it");
    }
  }

  private loop(node: SyntaxNode, values: JsonObject): string {
    const over = this.evaluate(child(node, "arr"), values);
    const target = child(node, "name");
    const names = target.typename === "Array" ? listOf(target).map((one) => String(one.value)) : [String(target.value)];
    const items = isList(over)
      ? over.map((item) => [item])
      : isJsonObject(over)
        ? Object.entries(over).map(([key, item]) => [key, item])
        : [];
    if (items.length === 0) {
      const otherwise = optionalChild(node, "else_");
      return otherwise === undefined ? "" : this.text(otherwise, values);
    }
    return items
      .map((item, index) => {
        const loop = { index: index + 1, index0: index, first: index === 0, last: index === items.length - 1 };
        const named = Object.fromEntries(names.map((name, at) => [name, item[at] ?? null]));
        return this.text(child(node, "body"), { ...values, ...named, loop });
      })
      .join("");
  }

  /** @param lenient a value that is not there is undefined here, even in a strict rendering */
  evaluate(node: SyntaxNode, values: JsonObject, lenient = false): Value {
    this.step();
    const of = (field: string) => this.evaluate(child(node, field), values, lenient);
    switch (node.typename) {
      case "TemplateData":
      case "Literal":
        return literal(node.value);
      case "Symbol": {
        const name = String(node.value);
        return Object.hasOwn(jinjaWords, name) ? jinjaWords[name] : this.own(values, name, lenient);
      }
      case "LookupVal": {
        const target = of("target");
        return this.own(target, String(child(node, "val").value), lenient);
      }
      case "Group":
        return this.evaluate(listOf(node)[0] ?? child(node, "children"), values, lenient);
      case "Array":
        return listOf(node).map((item) => this.evaluate(item, values, lenient) ?? null);
      case "Dict":
        return Object.fromEntries(
          listOf(node).map((pair) => {
            const key = child(pair, "key");
            return [String(key.value), this.evaluate(child(pair, "value"), values, lenient) ?? null];
          }),
        );
      case "InlineIf": {
        const branch = isTrue(of("cond")) ? "body" : "else_";
        const inner = optionalChild(node, branch);
        return inner === undefined ? undefined : this.evaluate(inner, values, lenient);
      }
      case "And": {
        const left = of("left");
        return isTrue(left) ? of("right") : left;
      }
      case "Or": {
        const left = of("left");
        return isTrue(left) ? left : of("right");
      }
      case "Not":
        return !isTrue(of("target"));
      case "Is":
        return this.test(node, values);
      case "In":
        return contains(of("right"), of("left"));
      case "Compare":
        return this.compare(node, values, lenient);
      case "Concat":
        return this.sized(asText(of("left")) + asText(of("right")));
      case "Neg":
        return -asNumber(of("target"));
      case "Pos":
        return asNumber(of("target"));
      case "Filter":
        return this.filter(node, values, lenient);
      default:
        return this.sized(arithmetic(node.typename, of("left"), of("right")));
    }
  }

  private test(node: SyntaxNode, values: JsonObject): boolean {
    const name = String(child(node, "right").value);
    const value = this.evaluate(child(node, "left"), values, true);
    if (name === "defined") return value !== undefined;
    if (name === "undefined") return value === undefined;
    if (name === "null" || name === "none") return value === null;
    throw new TemplateFault("after is there may be defined, undefined or null");
  }

  private compare(node: SyntaxNode, values: JsonObject, lenient: boolean): boolean {
    let left = this.evaluate(child(node, "expr"), values, lenient);
    for (const operand of listOf(node, "ops")) {
      const right = this.evaluate(child(operand, "expr"), values, lenient);
      if (!compares(String(operand.type), left, right)) return false;
      left = right;
    }
    return true;
  }

  private filter(node: SyntaxNode, values: JsonObject, lenient: boolean): Value {
    const name = filterOf(node);
    const [input, ...rest] = listOf(child(node, "args"));
    if (input === undefined) throw new TemplateFault(`the filter ${nameOf(node)} has nothing before it`);
    const isDefault = name === "default" || name === "d";
    const value = this.evaluate(input, values, lenient || isDefault);
    const given = rest.map((argument) => this.evaluate(argument, values, lenient));
    switch (name) {
      case "default":
      case "d":
        return value ?? given[0];
      case "upper":
        return asText(value).toUpperCase();
      case "lower":
        return asText(value).toLowerCase();
      case "trim":
        return asText(value).trim();
      case "string":
        return asText(value);
      case "length":
        return isList(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : asText(value).length;
      case "round": {
        const factor = 10 ** Math.min(10, Math.max(0, asNumber(given[0] ?? 0)));
        return Math.round(asNumber(value) * factor) / factor;
      }
      case "int":
        return Math.trunc(asNumber(value));
      case "float":
        return asNumber(value);
      case "abs":
        return Math.abs(asNumber(value));
      case "join":
        return this.sized((isList(value) ? value : []).map(asText).join(asText(given[0])));
      case "first":
        return isList(value) ? value[0] : undefined;
      case "last":
        return isList(value) ? value.at(-1) : undefined;
      case "truncate":
        return truncated(asText(value), asNumber(given[0] ?? 255));
      case "dump":
      case "tojson":
        return this.sized(JSON.stringify(value ?? null));
    }
  }

  private own(target: Value, key: string, lenient: boolean): Value {
    if (isList(target) && key === "length") return target.length;
    if (typeof target === "string" && key === "length") return target.length;
    const found = typeof target === "object" && target !== null && Object.hasOwn(target, key);
    if (found) return (target as Readonly<Record<string, JsonValue>>)[key];
    if (this.strict && !lenient) throw new TemplateFault(`there is no value named ${key}`);
    return undefined;
  }

  private step(): void {
    if (++this.steps > maxSteps) throw new TemplateFault("this template takes too many steps");
  }

  private sized<Sized extends string | number>(value: Sized): Sized {
    if (typeof value === "string") {
      this.length += value.length;
      if (this.length > maxOutput) throw new TemplateFault("this template becomes too large");
    }
    return value;
  }
}

function literal(value: unknown): Value {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}

function asText(value: Value): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function asNumber(value: Value): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) throw new TemplateFault("a number is needed here");
  return number;
}

function isTrue(value: Value): boolean {
  return isList(value) ? value.length > 0 : Boolean(value);
}

function arithmetic(operator: string, left: Value, right: Value): string | number {
  if (operator === "Add" && (typeof left === "string" || typeof right === "string"))
    return asText(left) + asText(right);
  const [a, b] = [asNumber(left), asNumber(right)];
  switch (operator) {
    case "Add":
      return a + b;
    case "Sub":
      return a - b;
    case "Mul":
      return a * b;
    case "Div":
      return finite(a / b);
    case "FloorDiv":
      return finite(Math.floor(a / b));
    case "Mod":
      return finite(a % b);
    default:
      throw new TemplateFault("this operator is not known here");
  }
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new TemplateFault("this divides by zero");
  return value;
}

function compares(operator: string, left: Value, right: Value): boolean {
  switch (operator) {
    case "==":
      return same(left, right);
    case "===":
      return left === right;
    case "!=":
      return !same(left, right);
    case "!==":
      return left !== right;
  }
  const ordered =
    (typeof left === "number" || typeof left === "string") && (typeof right === "number" || typeof right === "string");
  if (!ordered) return false;
  const [a, b] = typeof left === typeof right ? [left, right] : [Number(left), Number(right)];
  switch (operator) {
    case "<":
      return a < b;
    case ">":
      return a > b;
    case "<=":
      return a <= b;
    case ">=":
      return a >= b;
    default:
      return false;
  }
}

/** "7" and 7 are the same here, as everywhere in nunjucks; nothing else of two types is. */
function same(left: Value, right: Value): boolean {
  if (typeof left === "number" && typeof right === "string") return right.trim() !== "" && left === Number(right);
  if (typeof left === "string" && typeof right === "number") return same(right, left);
  return (left ?? null) === (right ?? null);
}

function contains(whole: Value, part: Value): boolean {
  if (isList(whole)) return whole.some((item) => same(item, part));
  if (typeof whole === "string") return whole.includes(asText(part));
  return isJsonObject(whole) && Object.hasOwn(whole, asText(part));
}

function truncated(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length)).replace(/[\ud800-\udbff]$/, "")}...`;
}

function isList(value: Value): value is readonly JsonValue[] {
  return Array.isArray(value);
}
