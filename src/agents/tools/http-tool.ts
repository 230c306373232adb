import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../../canonical/index.js";
import type { CallLimit, Connection, ManifestAuth, Pagination } from "../spec/index.js";
import { faultResult, readText, refusedResult, type TextAnswer, trim } from "./answer.js";
import { type Access, openAccess, runConnection, UnusableConnection } from "./credential.js";
import { type Deadline, startDeadline } from "./deadline.js";
import { HttpFault } from "./fault.js";
import type { Network } from "./network.js";
import { nextCursor, pageQuery } from "./paging.js";
import type { Pacer } from "./rate-limit.js";
import { buildRequest, type HttpRequest, type RequestShape, valuesOf } from "./request.js";
import { select } from "./select.js";
import { UnfitArgument } from "./template.js";
import type { CallContext, ToolResult } from "./tool.js";

/** One declared HTTP call, with all that is the same for every time it is made. */
export interface HttpCall {
  readonly shape: RequestShape;
  readonly auth: ManifestAuth;
  readonly connection?: string;
  readonly baseUrl?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly select?: string;
  readonly pagination?: Pagination;
  /** It may change something on the other side: then nothing of it is ever repeated or redirected. */
  readonly changes: boolean;
  /** The address was chosen by a tenant: public hosts only, no redirects. */
  readonly guarded: boolean;
  readonly limits: readonly { readonly key: string; readonly limit: CallLimit }[];
}

export interface HttpCaller {
  readonly network: Network;
  readonly pacer: Pacer;
  readonly connections: ReadonlyMap<string, Connection>;
  /** Characters of a result that reach the model. */
  readonly maxChars: number;
  /** Pages that one call fetches at most. */
  readonly maxPages: number;
}

const maxRedirects = 3;

/** Makes one declared call. Rejects only with `turn_aborted`. */
export async function callHttp(
  caller: HttpCaller,
  call: HttpCall,
  args: JsonObject,
  context: CallContext,
): Promise<ToolResult> {
  const deadline = startDeadline(call.timeoutMs, context.signal);
  let access: Access | undefined;
  try {
    access = openAccess(
      call.auth,
      runConnection(call.connection, caller.connections, context.connections),
      call.baseUrl,
    );
    const result = call.pagination
      ? await callPages(caller, call, call.pagination, args, context, access, deadline)
      : await callOnce(caller, call, args, context, access, deadline);
    return { ...result, content: trim(access.redact(result.content), caller.maxChars) };
  } catch (error) {
    return failed(error);
  } finally {
    deadline.end();
  }
}

function failed(error: unknown): ToolResult {
  if (error instanceof HttpFault) return faultResult(error);
  if (error instanceof UnfitArgument) return never("bad_arguments", `Not called: ${error.message}.`);
  if (error instanceof UnusableConnection) return never("bad_connection", `Not called: ${error.message}.`);
  throw error;
}

/** A call that was surely not made. */
function never(code: string, content: string): ToolResult {
  return { ok: false, code, content, uncertain: false };
}

async function callOnce(
  caller: HttpCaller,
  call: HttpCall,
  args: JsonObject,
  context: CallContext,
  access: Access,
  deadline: Deadline,
): Promise<ToolResult> {
  const answer = await fetchText(caller, call, args, context, access, deadline, []);
  return "ok" in answer ? answer : { ok: true, content: chosenText(answer, call.select) };
}

async function callPages(
  caller: HttpCaller,
  call: HttpCall,
  style: Pagination,
  args: JsonObject,
  context: CallContext,
  access: Access,
  deadline: Deadline,
): Promise<ToolResult> {
  const { cursor: asked, ...own } = args;
  let cursor = typeof asked === "string" && asked !== "" ? asked : undefined;
  const rows: string[] = [];
  let size = 0;
  for (let page = 1; ; page++) {
    const sent = cursor === undefined ? own : { ...own, cursor };
    const answer = await fetchPage(() =>
      fetchText(caller, call, sent, context, access, deadline, pageQuery(style, cursor, own)),
    );
    if ("ok" in answer)
      return page === 1 ? answer : listResult(rows, cursor, `the next page failed (${codeOf(answer)})`);
    const chosen = answer.json && chooseFrom(answer.json.value, call.select);
    const items = Array.isArray(chosen) ? chosen.map((item) => JSON.stringify(item)) : undefined;
    const next = nextCursor(style, cursor, answer, items?.length, own);
    if (items === undefined) return { ok: true, content: chosenText(answer, call.select) + more(next) };
    const grown = size + items.reduce((sum, item) => sum + item.length + 1, 0);
    // A page that would not fit whole is left for the next call: its cursor would skip what was cut off.
    if (page > 1 && grown > caller.maxChars) return listResult(rows, cursor);
    rows.push(...items);
    size = grown;
    if (next === undefined || page >= caller.maxPages || call.changes) return listResult(rows, next);
    cursor = next;
  }
}

/** A page that cannot be fetched does not take away the pages before it. */
async function fetchPage(fetch: () => Promise<TextAnswer | ToolResult>): Promise<TextAnswer | ToolResult> {
  try {
    return await fetch();
  } catch (error) {
    return failed(error);
  }
}

function listResult(rows: readonly string[], next: string | undefined, why?: string): ToolResult {
  return { ok: true, content: `[${rows.join(",")}]${more(next, why)}` };
}

function more(next: string | undefined, why = "there is more"): string {
  return next === undefined
    ? ""
    : `\n[Not complete: ${why}. To go on, call again with cursor ${JSON.stringify(next)}.]`;
}

function codeOf(result: ToolResult): string {
  return result.ok ? "ok" : result.code;
}

async function fetchText(
  caller: HttpCaller,
  call: HttpCall,
  args: JsonObject,
  context: CallContext,
  access: Access,
  deadline: Deadline,
  paging: readonly (readonly [string, string])[],
): Promise<TextAnswer | ToolResult> {
  const values = valuesOf(call.shape, args, call.pagination ? ["cursor"] : []);
  const { headers } = call;
  const request = buildRequest({
    action: call.shape,
    values,
    access,
    headers,
    idempotencyKey: context.idempotencyKey,
    paging,
  });
  for (const { key, limit } of call.limits) {
    const wait = caller.pacer.reserve(key, limit, deadline.remaining());
    if (wait === undefined)
      return never("rate_limited", "Not called: too many calls in a short time. Try again later.");
    if (wait > 0) await pause(wait, deadline);
  }
  const answer = await follow(caller, call, request, deadline);
  const unread = call.changes && answer.status >= 200 && answer.status < 300;
  const text = await readText(answer);
  if (text === "not_text") {
    // The status is the server's word that the write was done; what it sent along does not take that back.
    if (unread)
      return {
        ok: true,
        content: `Done (status ${answer.status}); the answer's content is not text and was left out.`,
      };
    if (answer.status >= 400) return refusedResult(answer.status, "");
    return { ...faultResult(new HttpFault("not_text", false)) };
  }
  if (text.status >= 200 && text.status < 300) return text;
  return refusedResult(text.status, access.redact(text.text));
}

async function pause(ms: number, deadline: Deadline): Promise<void> {
  try {
    await sleep(ms, undefined, { signal: deadline.signal });
  } catch (cause) {
    throw deadline.aborted() ?? new HttpFault("timeout", false, { cause });
  }
}

/** Sends, and follows redirects of reads within the same origin, so that credentials go nowhere else. */
async function follow(caller: HttpCaller, call: HttpCall, first: HttpRequest, deadline: Deadline) {
  let request = first;
  for (let hops = 0; ; hops++) {
    const answer = await caller.network.open(request, { deadline, guarded: call.guarded, fresh: call.changes });
    if (answer.status < 300 || answer.status >= 400 || answer.status === 304) return answer;
    answer.body.destroy();
    const target = answer.headers.location;
    const url =
      target !== undefined && URL.canParse(target, request.url.href) ? new URL(target, request.url) : undefined;
    const may = !call.guarded && !call.changes && request.method === "GET" && hops < maxRedirects;
    if (!may || url === undefined || url.origin !== request.url.origin) {
      // 307 and 308 say that the request is still to be made; the older ones are also how a server answers a done write.
      throw new HttpFault("redirected", call.changes && answer.status !== 307 && answer.status !== 308);
    }
    request = { ...request, url, target: `${url.pathname}${url.search}` };
  }
}

function chooseFrom(value: unknown, path: string | undefined): unknown {
  return path === undefined ? value : select(value, path);
}

/** What the model gets of an answer: all of it, as the server wrote it, or what stands at the manifest's `select`. */
function chosenText(answer: TextAnswer, path: string | undefined): string {
  if (answer.text.trim() === "") return `Done (status ${answer.status}); the answer is empty.`;
  if (path === undefined || answer.json === undefined) return answer.text;
  const chosen = select(answer.json.value, path);
  return chosen === undefined
    ? `The answer holds nothing at ${path}.`
    : typeof chosen === "string"
      ? chosen
      : JSON.stringify(chosen);
}
