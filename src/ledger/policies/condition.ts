import { type JsonValue, parseStrict } from "../../canonical/index.js";
import { parsePath, type ValuePath, valueAt } from "../path.js";

const operators = ["==", "!=", ">=", "<=", ">", "<", "not in", "in"] as const;
type Operator = (typeof operators)[number];
type Plain = string | number | boolean | null;

/** `amount > 1000`: a path into the arguments, a comparison, and what is compared with. */
export interface Condition {
  readonly text: string;
  readonly path: ValuePath;
  readonly operator: Operator;
  readonly values: readonly Plain[];
}

export type ConditionCheck =
  | { readonly ok: true; readonly condition: Condition }
  /** What is wrong and what to write, as a predicate. */
  | { readonly ok: false; readonly problem: string };

const shape = /^(\S+?)\s*(==|!=|>=|<=|>|<|=|\bnot\s+in\b|\bin\b)\s*(.*)$/s;
const word = /^[\p{L}_][\p{L}\p{N}_-]*$/u;
const example = 'for example amount > 1000 or currency in ["USD", "EUR"]';

/** Reads one condition. There is no code in it, and no way to put any. */
export function parseCondition(text: string): ConditionCheck {
  const [, left = "", sign = "", right = ""] = shape.exec(text.trim()) ?? [];
  if (sign === "") return wrong(`must compare an argument with a value, ${example}`);
  if (sign === "=") return wrong("has a single “=”: write == to compare");
  const path = parsePath(left);
  if (path === undefined) return wrong("must begin with a path into the arguments, for example items[0].price");
  const operator = operators.find((each) => each === sign.replace(/\s+/g, " "));
  if (operator === undefined) return wrong(`must compare an argument with a value, ${example}`);
  const ordered = operator === ">" || operator === "<" || operator === ">=" || operator === "<=";
  const values = operator === "in" || operator === "not in" ? readList(right) : readOne(right, !ordered);
  if (values === undefined) {
    if (operator === "in" || operator === "not in") {
      return wrong('must have a list after “in”, for example currency in ["USD", "EUR"]');
    }
    return wrong(`must end with ${ordered ? "a number, or text in quotes" : "a number, true, false, null or text"}`);
  }
  if (ordered && values.some((value) => typeof value !== "number" && typeof value !== "string")) {
    return wrong("can order numbers and texts only");
  }
  return { ok: true, condition: { text: text.trim(), path, operator, values } };
}

function wrong(problem: string): ConditionCheck {
  return { ok: false, problem };
}

function readOne(text: string, wordsAllowed: boolean): readonly Plain[] | undefined {
  const value = readPlain(text.trim(), wordsAllowed);
  return value === undefined ? undefined : [value];
}

function readList(text: string): readonly Plain[] | undefined {
  const inside = /^\[(.*)\]$/s.exec(text.trim())?.[1];
  if (inside === undefined || inside.trim() === "") return undefined;
  const items = inside.match(listItem) ?? [];
  const values = items.map((item) => readPlain(item.trim(), true)).filter((value) => value !== undefined);
  const between = inside.replace(listItem, "");
  return values.length === items.length && between === ",".repeat(items.length - 1) ? values : undefined;
}

const listItem = /\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^,"']+)\s*/g;

function readPlain(text: string, wordsAllowed: boolean): Plain | undefined {
  const single = /^'([^'\\]*)'$/.exec(text)?.[1];
  if (single !== undefined) return single;
  const parsed = parseStrict(text);
  if (parsed.ok) {
    const { value } = parsed;
    return typeof value === "object" && value !== null ? undefined : value;
  }
  return wordsAllowed && word.test(text) ? text : undefined;
}

/**
 * Whether a rule's condition holds for a call. Where nothing stands at the path, nothing is greater or equal; what stands
 * there and cannot be ordered at all (`null` too) makes the condition hold: in doubt the rule is asked.
 * @param args undefined when they could not be read: then every condition holds
 */
export function holds(condition: Condition, args: JsonValue | undefined): boolean {
  if (args === undefined) return true;
  const value = valueAt(args, condition.path);
  const [first = null] = condition.values;
  switch (condition.operator) {
    case "==":
      return value !== undefined && equal(value, first);
    case "!=":
      return value === undefined || !same(value, first);
    case "in":
      return value !== undefined && condition.values.some((each) => equal(value, each));
    case "not in":
      return value === undefined || !condition.values.some((each) => same(value, each));
    case ">":
    case ">=":
    case "<":
    case "<=":
      return value !== undefined && ordered(condition.operator, value, first);
  }
}

function ordered(operator: ">" | ">=" | "<" | "<=", value: JsonValue, limit: Plain): boolean {
  const order = typeof limit === "number" ? compareNumbers(value, limit) : compareTexts(value, limit);
  if (order === undefined) return true;
  if (operator === ">") return order > 0;
  if (operator === ">=") return order >= 0;
  return operator === "<" ? order < 0 : order <= 0;
}

/** A number may have come as text: many models write it so. */
function compareNumbers(value: JsonValue, limit: number): number | undefined {
  const number = typeof value === "number" ? value : numberIn(value);
  return number === undefined ? undefined : number - limit;
}

function compareTexts(value: JsonValue, limit: Plain): number | undefined {
  if (typeof value !== "string" || typeof limit !== "string") return undefined;
  return value < limit ? -1 : value > limit ? 1 : 0;
}

function numberIn(value: JsonValue): number | undefined {
  return typeof value === "string" && /^\s*[+-]?\d{1,15}(?:\.\d{1,15})?\s*$/.test(value) ? Number(value) : undefined;
}

/** Also of a number that came as text: the rule is meant for it. */
function equal(value: JsonValue, other: Plain): boolean {
  return same(value, other) || (typeof other === "number" && numberIn(value) === other);
}

function same(value: JsonValue, other: Plain): boolean {
  return value === other;
}
