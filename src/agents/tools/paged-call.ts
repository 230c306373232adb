import type { JsonObject } from "../../canonical/index.js";
import type { Pagination } from "../spec/index.js";
import { type CallInProgress, chosenText, type Fetched, failed, fetchAnswer, got } from "./http-call.js";
import { nextCursor, pageQuery } from "./paging.js";
import { select } from "./select.js";
import type { ToolResult } from "./tool.js";

/**
 * Fetches pages as long as they fit into what a model is handed, up to `maxPages`, and joins their rows. Where there is
 * more, the answer names the cursor by which the model can go on. Anything but a list of rows is one page.
 */
export async function callPages(progress: CallInProgress, style: Pagination, args: JsonObject): Promise<ToolResult> {
  const { caller, call } = progress;
  const { cursor: asked, ...own } = args;
  let cursor = typeof asked === "string" && asked !== "" ? asked : undefined;
  const rows: string[] = [];
  let size = 0;
  for (let page = 1; ; page++) {
    const fetched = await fetchPage(progress, style, own, cursor);
    if (fetched.kind === "result") {
      if (page === 1) return fetched.result;
      return joined(
        progress,
        rows,
        cursor,
        `the next page failed${fetched.result.ok ? "" : ` (${fetched.result.code})`}`,
      );
    }
    const { answer } = fetched;
    const chosen =
      answer.json && (call.select === undefined ? answer.json.value : select(answer.json.value, call.select));
    const items = Array.isArray(chosen) ? chosen.map((item) => JSON.stringify(item)) : undefined;
    const next = nextCursor(style, cursor, fetched, items?.length, own);
    if (items === undefined) return got(progress, chosenText(answer, call.select), more(next));
    const grown = size + items.reduce((sum, item) => sum + item.length + 1, 0);
    // A page that would not fit whole is left for the next call: its cursor would skip what was cut off.
    if (page > 1 && grown > caller.maxChars) return joined(progress, rows, cursor);
    rows.push(...items);
    size = grown;
    if (next === undefined || page >= caller.maxPages || call.changes) return joined(progress, rows, next);
    cursor = next;
  }
}

/** A page that cannot be fetched does not take away the pages before it. */
async function fetchPage(
  progress: CallInProgress,
  style: Pagination,
  own: JsonObject,
  cursor: string | undefined,
): Promise<Fetched> {
  try {
    const args = cursor === undefined ? own : { ...own, cursor };
    return await fetchAnswer(progress, args, pageQuery(style, cursor, own, progress.access));
  } catch (error) {
    return { kind: "result", result: failed(error) };
  }
}

function joined(progress: CallInProgress, rows: readonly string[], next: string | undefined, why?: string): ToolResult {
  return got(progress, `[${rows.join(",")}]`, more(next, why));
}

function more(next: string | undefined, why = "there is more"): string {
  return next === undefined
    ? ""
    : `\n[Not complete: ${why}. To go on, call again with cursor ${JSON.stringify(next)}.]`;
}
