import nunjucks from "nunjucks";

/** Why a template cannot be used, in words for its author; or, when it is rendered, which value is not there. */
export class TemplateFault extends Error {}

/** A node of nunjucks' syntax tree; only its parser is used, nothing of a template ever becomes code. */
export interface SyntaxNode {
  readonly typename: string;
  readonly [field: string]: unknown;
}

interface NunjucksParser {
  parse(source: string): SyntaxNode;
}

/** Its typings leave the parser out, which nunjucks itself exports and documents for extensions. */
const { parser } = nunjucks as unknown as { readonly parser: NunjucksParser };

/** Longest template, in UTF-16 code units. */
const maxLength = 20_000;

/** All that a template may hold: no calls, macros, imports, assignments or regular expressions. */
const allowed: ReadonlySet<string> = new Set(
  (
    "Root NodeList Output TemplateData Literal Symbol Group Array Dict Pair LookupVal If InlineIf For Filter Compare " +
    "CompareOperand Is In Or And Not Add Sub Mul Div FloorDiv Mod Concat Neg Pos"
  ).split(" "),
);

/** @throws TemplateFault */
export function parseTemplate(source: string): SyntaxNode {
  if (source.length > maxLength) throw new TemplateFault(`a template may have ${maxLength} characters at most`);
  let root: SyntaxNode;
  try {
    root = parser.parse(source);
  } catch {
    throw new TemplateFault("this is no template that nunjucks could read");
  }
  check(root, 0);
  return root;
}

function check(node: SyntaxNode, loops: number): void {
  if (!allowed.has(node.typename)) {
    throw new TemplateFault(`a template may not hold this here (${node.typename}): use values, filters, if and for`);
  }
  if (node.typename === "LookupVal" && child(node, "val").typename !== "Literal") {
    throw new TemplateFault('a name in brackets has to be written out, as in steps["first-step"]');
  }
  if (node.typename === "Literal" && !isPlain(node.value)) throw new TemplateFault("no regular expressions here");
  if (node.typename === "Filter" && !isFilterName(nameOf(node))) {
    throw new TemplateFault(`there is no filter of that name; there are ${filterNames.join(", ")}`);
  }
  const inside = loops + (node.typename === "For" ? 1 : 0);
  if (inside > 2) throw new TemplateFault("loops may be nested two deep at most");
  for (const inner of childrenOf(node)) check(inner, inside);
}

export const filterNames = [
  "default",
  "d",
  "upper",
  "lower",
  "trim",
  "length",
  "round",
  "int",
  "float",
  "abs",
  "string",
  "join",
  "first",
  "last",
  "truncate",
  "dump",
  "tojson",
] as const;
export type FilterName = (typeof filterNames)[number];

function isFilterName(name: string): name is FilterName {
  return (filterNames as readonly string[]).includes(name);
}

/** The name of a filter, whose node keeps it as a symbol. */
export function nameOf(node: SyntaxNode): string {
  return String(child(node, "name").value);
}

export function filterOf(node: SyntaxNode): FilterName {
  const name = nameOf(node);
  if (!isFilterName(name)) throw new TemplateFault("there is no filter of that name");
  return name;
}

export function child(node: SyntaxNode, field: string): SyntaxNode {
  const inner = node[field];
  if (!isNode(inner)) throw new TemplateFault("this template is not complete");
  return inner;
}

export function optionalChild(node: SyntaxNode, field: string): SyntaxNode | undefined {
  const inner = node[field];
  return isNode(inner) ? inner : undefined;
}

/** A node's list: `children`, or another field that holds one. */
export function listOf(node: SyntaxNode, field = "children"): readonly SyntaxNode[] {
  const list = node[field];
  return Array.isArray(list) ? list.filter(isNode) : [];
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const fields = Array.isArray(node.fields) ? node.fields.map(String) : [];
  return [
    ...listOf(node),
    ...(node.typename === "NodeList" ? [] : fields.flatMap((field) => optionalChild(node, field) ?? [])),
    ...listOf(node, "ops"),
  ];
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "typename" in value && typeof value.typename === "string";
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
