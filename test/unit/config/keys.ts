import { z } from "zod";

/** The keys of a schema, as documentation writes them: dotted, with `[]` after a list. Objects without keys are leaves. */
export function keysOf(schema: z.core.$ZodType, path = ""): readonly string[] {
  if (schema instanceof z.ZodObject) {
    const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
    return Object.entries(shape).flatMap(([key, value]) => {
      const here = path === "" ? key : `${path}.${key}`;
      const below = keysOf(value, here);
      return below.length === 0 ? [here] : isUnion(value) ? [here, ...below] : below;
    });
  }
  if (schema instanceof z.ZodArray) return keysOf(schema.element, `${path}[]`);
  if (schema instanceof z.ZodUnion) return [...new Set(schema.options.flatMap((option) => keysOf(option, path)))];
  if (schema instanceof z.ZodPipe) {
    const input = keysOf(schema.in, path);
    return input.length > 0 ? input : keysOf(schema.out, path);
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return keysOf(schema.def.innerType, path);
  return [];
}

function isUnion(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? isUnion(schema.def.innerType)
    : schema instanceof z.ZodUnion && !(schema instanceof z.ZodDiscriminatedUnion);
}

export interface DocumentedKey {
  readonly key: string;
  readonly type: string;
  /** Undefined where the table has a dash. */
  readonly fallback: string | undefined;
  readonly example: string | undefined;
}

/** The rows of a page's tables whose first column is a key: `| `key` | type | default | example | … |`. */
export function documentedKeys(markdown: string): readonly DocumentedKey[] {
  return markdown.split("\n").flatMap((line) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const key = /^`([^`]+)`$/.exec(cells[1] ?? "")?.[1];
    if (key === undefined || cells.length < 6) return [];
    const code = (cell: string | undefined) => /^`(.+)`$/.exec(cell ?? "")?.[1]?.replaceAll("\\|", "|");
    return [{ key, type: cells[2] ?? "", fallback: code(cells[3]), example: code(cells[4]) }];
  });
}
