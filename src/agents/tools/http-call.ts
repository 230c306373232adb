import type { JsonObject } from "../../canonical/index.js";
import type { Connection, ManifestAuth, Pagination } from "../spec/index.js";
import { readText, refusedResult, type TextAnswer, trim } from "./answer.js";
import { type Access, UnusableConnection } from "./credential.js";
import type { Deadline } from "./deadline.js";
import { faultResult, HttpFault, notDone, tooMany } from "./fault.js";
import type { OpenAnswer } from "./http-client.js";
import type { Network } from "./network.js";
import { type KeyedLimit, waitForTurn } from "./rate-limit.js";
import { buildRequest, type HttpRequest, type RequestShape, valuesOf } from "./request.js";
import { select } from "./select.js";
import { UnfitArgument } from "./template.js";
import type { CallContext, ToolResult } from "./tool.js";

/** One declared HTTP call, with all that is the same every time it is made. */
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
  readonly limits: readonly KeyedLimit[];
}

export interface HttpCaller {
  readonly network: Network;
  readonly connections: ReadonlyMap<string, Connection>;
  /** Characters of a result that reach the model. */
  readonly maxChars: number;
  /** Pages that one call fetches at most. */
  readonly maxPages: number;
}

/** A declared call that is being made: for whom, with which credentials, until when. */
export interface CallInProgress {
  readonly caller: HttpCaller;
  readonly call: HttpCall;
  readonly context: CallContext;
  readonly access: Access;
  readonly deadline: Deadline;
}

/** A good answer, or the result that its absence comes to. */
export type Fetched =
  | { readonly kind: "answer"; readonly answer: TextAnswer; readonly url: URL }
  | { readonly kind: "result"; readonly result: ToolResult };

/**
 * What was got, fit for a model.
 * @param note what the model has to know beside it; it is never cut off
 */
export function got({ access, caller }: CallInProgress, text: string, note = ""): ToolResult {
  return { ok: true, content: trim(access.redact(text), caller.maxChars) + access.redact(note) };
}

/** What an error of a call comes to. @throws what is no fault of arguments, connection or server */
export function failed(error: unknown): ToolResult {
  if (error instanceof HttpFault) return faultResult(error);
  if (error instanceof UnfitArgument) return notDone("bad_arguments", `Not called: ${error.message}.`);
  if (error instanceof UnusableConnection) return notDone("bad_connection", `Not called: ${error.message}.`);
  throw error;
}

/**
 * Sends one request and reads its answer.
 * @param paging query entries that ask for a page
 * @throws HttpFault, UnfitArgument, UnusableConnection, DaleError `turn_aborted`
 */
export async function fetchAnswer(
  { caller, call, context, access, deadline }: CallInProgress,
  args: JsonObject,
  paging: readonly (readonly [string, string])[],
): Promise<Fetched> {
  const { headers, shape } = call;
  const { idempotencyKey } = context;
  const values = valuesOf(shape, args, call.pagination ? ["cursor"] : []);
  const request = buildRequest({ shape, values, access, headers, idempotencyKey, paging });
  if (!(await waitForTurn(caller.network.pacer, call.limits, deadline))) return { kind: "result", result: tooMany };
  const answer = await follow(caller, call, request, deadline);
  if (answer.status < 200 || answer.status >= 300) {
    return { kind: "result", result: refusedResult(answer.status, access.redact(await detailOf(answer))) };
  }
  const text = await readText(answer);
  if (text !== "not_text") return { kind: "answer", answer: text, url: request.url };
  if (!call.changes) throw new HttpFault("not_text", false);
  // The status is the server's word that the write was done; what it sent along does not take that back.
  const content = `Done (status ${answer.status}); the answer is not text and was left out.`;
  return { kind: "result", result: { ok: true, content } };
}

/** What a refusal says, as far as it can be read: the status stands, whatever becomes of its text. */
async function detailOf(answer: OpenAnswer): Promise<string> {
  try {
    const text = await readText(answer);
    return text === "not_text" ? "" : text.text;
  } catch (error) {
    if (error instanceof HttpFault) return "";
    throw error;
  }
}

const maxRedirects = 3;

/** Sends, and follows redirects of reads within the same origin, so that credentials go nowhere else. */
async function follow(caller: HttpCaller, call: HttpCall, first: HttpRequest, deadline: Deadline): Promise<OpenAnswer> {
  let request = first;
  for (let hops = 0; ; hops++) {
    const answer = await caller.network.http.open(request, { deadline, guarded: call.guarded, once: call.changes });
    if (![301, 302, 303, 307, 308].includes(answer.status)) return answer;
    answer.body.destroy();
    const to = answer.headers.location;
    const url = to !== undefined && URL.canParse(to, request.url.href) ? new URL(to, request.url) : undefined;
    const may = !call.guarded && !call.changes && request.method === "GET" && hops < maxRedirects;
    if (!may || url === undefined || url.origin !== request.url.origin) {
      // 307 and 308 say that the request is still to be made; the others are also how a server answers a done write.
      throw new HttpFault("redirected", call.changes && answer.status < 307);
    }
    request = { ...request, url, target: `${url.pathname}${url.search}` };
  }
}

/** What the model gets of an answer: all of it, as the server wrote it, or what stands at the manifest's `select`. */
export function chosenText(answer: TextAnswer, path: string | undefined): string {
  if (answer.text.trim() === "") return `Done (status ${answer.status}); the answer is empty.`;
  if (path === undefined || answer.json === undefined) return answer.text;
  const chosen = select(answer.json.value, path);
  if (chosen === undefined) return `The answer holds nothing at ${path}.`;
  return typeof chosen === "string" ? chosen : JSON.stringify(chosen);
}
