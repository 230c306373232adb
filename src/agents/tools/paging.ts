import type { JsonObject } from "../../canonical/index.js";
import type { Pagination } from "../spec/index.js";
import type { TextAnswer } from "./answer.js";
import { select } from "./select.js";

/** The parameter by which a model asks for the page after the one that it saw, whatever the server's own dialect. */
export const cursorParameter = {
  name: "cursor",
  schema: {
    type: "string",
    description: "Where to go on: the cursor that the previous answer named. Leave out at first.",
  },
  required: false,
} as const;

/** Query entries that ask for the page at a cursor. `limit` is passed on where the manifest names a parameter for it. */
export function pageQuery(style: Pagination, cursor: string | undefined, args: JsonObject): [string, string][] {
  const entries: [string, string][] = [];
  if (style.limitParam !== undefined && typeof args.limit === "number")
    entries.push([style.limitParam, String(args.limit)]);
  if (cursor === undefined) return entries;
  switch (style.style) {
    case "cursor":
      if (style.cursorIn === "query") entries.push([style.cursorParam, cursor]);
      break;
    case "offset":
      entries.push([style.offsetParam, cursor]);
      break;
    case "page":
      entries.push([style.pageParam, cursor]);
      break;
  }
  return entries;
}

/**
 * The cursor of the next page; undefined at the end.
 * @param items how many rows the page held, undefined when it is no list
 */
export function nextCursor(
  style: Pagination,
  cursor: string | undefined,
  page: TextAnswer,
  items: number | undefined,
  args: JsonObject,
): string | undefined {
  if (style.style === "cursor") {
    const next = page.json && select(page.json.value, style.cursorPath);
    const text = typeof next === "string" || typeof next === "number" ? String(next) : "";
    return text === "" || text === cursor ? undefined : text;
  }
  if (items === undefined || items === 0) return undefined;
  if (typeof args.limit === "number" && items < args.limit) return undefined;
  if (style.style === "offset") return String(whole(cursor, 0) + items);
  return String(whole(cursor, 1) + 1);
}

function whole(cursor: string | undefined, otherwise: number): number {
  return cursor !== undefined && /^\d{1,15}$/.test(cursor) ? Number(cursor) : otherwise;
}
