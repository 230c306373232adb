import type { JsonObject } from "../../canonical/index.js";
import type { Pagination } from "../spec/index.js";
import type { TextAnswer } from "./answer.js";
import type { Access } from "./credential.js";
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

/**
 * Query entries that ask for the page at a cursor. A numeric argument `limit` is passed on where the manifest names a
 * parameter for it. A link's cursor is the query of the next address, without the credential.
 */
export function pageQuery(
  style: Pagination,
  cursor: string | undefined,
  args: JsonObject,
  access: Access,
): [string, string][] {
  const limit: [string, string][] =
    style.limitParam !== undefined && typeof args.limit === "number" ? [[style.limitParam, String(args.limit)]] : [];
  if (cursor === undefined) return limit;
  switch (style.style) {
    case "cursor":
      return style.cursorIn === "query" ? [...limit, [style.cursorParam, cursor]] : limit;
    case "offset":
      return [...limit, [style.offsetParam, cursor]];
    case "page":
      return [...limit, [style.pageParam, cursor]];
    case "link":
      return [...new URLSearchParams(cursor)].filter(([name]) => !signs(access, name));
  }
}

/** What was fetched: the answer, and from where. */
interface FetchedPage {
  readonly answer: TextAnswer;
  readonly url: URL;
}

/**
 * The cursor of the next page; undefined at the end.
 * @param items how many rows the page held, undefined when it is no list
 */
export function nextCursor(
  style: Pagination,
  cursor: string | undefined,
  { answer, url }: FetchedPage,
  items: number | undefined,
  args: JsonObject,
): string | undefined {
  const full = typeof args.limit !== "number" || items === undefined || items >= args.limit;
  switch (style.style) {
    case "cursor": {
      const next = answer.json && select(answer.json.value, style.cursorPath);
      const text = typeof next === "string" || typeof next === "number" ? String(next) : "";
      return text === "" || text === cursor ? undefined : text;
    }
    case "offset":
      return items && full ? String(whole(cursor, 0) + items) : undefined;
    case "page":
      return items && full ? String(whole(cursor, 1) + 1) : undefined;
    case "link":
      return nextLink(answer.headers.link, url);
  }
}

function whole(cursor: string | undefined, otherwise: number): number {
  return cursor !== undefined && /^\d{1,15}$/.test(cursor) ? Number(cursor) : otherwise;
}

/** The query of `rel="next"` (RFC 8288). Followed only on the very address that was asked: nowhere else is a next page. */
function nextLink(header: string | string[] | undefined, asked: URL): string | undefined {
  for (const [, target = "", parameters = ""] of String(header ?? "").matchAll(/<([^<>]*)>([^<]*)/g)) {
    if (!/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(parameters)) continue;
    if (!URL.canParse(target, asked.href)) return undefined;
    const next = new URL(target, asked);
    const same = next.origin === asked.origin && next.pathname === asked.pathname && next.search !== asked.search;
    return same ? next.search.slice(1) : undefined;
  }
  return undefined;
}

function signs(access: Access, name: string): boolean {
  return access.query.some(([own]) => own === name);
}
