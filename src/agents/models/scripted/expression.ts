import type { JsonValue } from "../../../canonical/index.js";

/**
 * `{debt.result.0.monto / cuotas | money}`: a path into the conversation's values, at most one division or product with
 * another path or number, and formatters. There is no code in it.
 */
export interface Expression {
  readonly left: Operand;
  readonly operation?: { readonly sign: "/" | "*"; readonly right: Operand };
  readonly formatters: readonly Formatter[];
}
export type Operand = { readonly path: readonly string[] } | { readonly number: number };
export type Formatter = "money" | "number" | "int" | "text";

/** Literal pieces and expressions, in order. */
export type Template = readonly (string | Expression)[];

export type Values = Readonly<Record<string, JsonValue | undefined>>;

const formatterNames: readonly string[] = ["money", "number", "int", "text"];
const operandPattern = /^(?:[a-z_][\w]*(?:\.[\w-]+)*|\d+(?:\.\d+)?)$/i;

/** @throws Error in words for the author of the script */
export function parseTemplate(text: string): Template {
  const pieces: (string | Expression)[] = [];
  let at = 0;
  for (const match of text.matchAll(/\{([^{}]*)\}/g)) {
    if (match.index > at) pieces.push(text.slice(at, match.index));
    pieces.push(parseExpression(match[1] ?? ""));
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push(text.slice(at));
  return pieces;
}

function parseExpression(source: string): Expression {
  const [calculation = "", ...formatters] = source.split("|").map((piece) => piece.trim());
  const wrong = formatters.find((name) => !formatterNames.includes(name));
  if (wrong !== undefined) throw new Error(`there is no formatter "${wrong}": use ${formatterNames.join(", ")}`);
  const [left = "", sign, right, ...rest] = calculation.split(/\s*([/*])\s*/);
  if (rest.length > 0) throw new Error("there may be one division or product in braces, not more");
  const operation =
    sign === "/" || sign === "*" ? { operation: { sign, right: parseOperand(right ?? "") } as const } : {};
  return { left: parseOperand(left), ...operation, formatters: formatters.filter(isFormatter) };
}

function isFormatter(name: string): name is Formatter {
  return formatterNames.includes(name);
}

function parseOperand(text: string): Operand {
  if (!operandPattern.test(text)) throw new Error(`"${text}" in braces is neither a name nor a number`);
  return /^\d/.test(text) ? { number: Number(text) } : { path: text.split(".") };
}

/** The first names of all paths: what has to be declared. */
export function namesIn(template: Template): readonly string[] {
  return template.flatMap((piece) => {
    if (typeof piece === "string") return [];
    const operands = piece.operation === undefined ? [piece.left] : [piece.left, piece.operation.right];
    return operands.flatMap((operand) => ("path" in operand ? (operand.path[0] ?? []) : []));
  });
}

/** The value at a path of own properties and indexes; undefined where there is none. */
export function valueAt(values: Values, path: readonly string[]): JsonValue | undefined {
  let at: unknown = values;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return at as JsonValue | undefined;
}

/** A template as text: missing values are empty. */
export function renderText(template: Template, values: Values, locale: string): string {
  return template
    .map((piece) => {
      if (typeof piece === "string") return piece;
      const value = evaluate(piece, values, locale);
      if (value === undefined || value === null) return "";
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    })
    .join("");
}

/** A template as a value: one that is nothing but an expression keeps the value's type. */
export function renderValue(template: Template, values: Values, locale: string): JsonValue | undefined {
  const [only] = template;
  if (template.length === 1 && only !== undefined && typeof only !== "string") return evaluate(only, values, locale);
  return renderText(template, values, locale);
}

function evaluate(expression: Expression, values: Values, locale: string): JsonValue | undefined {
  let value = operandValue(expression.left, values);
  if (expression.operation !== undefined) {
    const left = toNumber(value);
    const right = toNumber(operandValue(expression.operation.right, values));
    if (left === undefined || right === undefined) return undefined;
    value = expression.operation.sign === "*" ? left * right : right === 0 ? undefined : left / right;
  }
  for (const formatter of expression.formatters) value = format(value, formatter, locale);
  return value;
}

function operandValue(operand: Operand, values: Values): JsonValue | undefined {
  return "number" in operand ? operand.number : valueAt(values, operand.path);
}

function toNumber(value: JsonValue | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  return undefined;
}

function format(value: JsonValue | undefined, formatter: Formatter, locale: string): JsonValue | undefined {
  if (value === undefined || value === null) return value;
  if (formatter === "text") return typeof value === "object" ? JSON.stringify(value) : String(value);
  const number = toNumber(value);
  if (number === undefined) return value;
  // Rounded down, as a debt that is divided is: what is left over goes to one of the parts.
  const whole = Math.floor(number);
  if (formatter === "int") return whole;
  const grouped = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }).format(whole);
  return formatter === "money" ? `$${grouped}` : grouped;
}
