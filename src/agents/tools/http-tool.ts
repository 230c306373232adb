import type { JsonObject } from "../../canonical/index.js";
import { openAccess, runConnection } from "./credential.js";
import { startDeadline } from "./deadline.js";
import {
  type CallInProgress,
  chosenText,
  failed,
  fetchAnswer,
  got,
  type HttpCall,
  type HttpCaller,
} from "./http-call.js";
import { callPages } from "./paged-call.js";
import type { CallContext, ToolResult } from "./tool.js";

/** Makes one declared call. Rejects only with DaleError `turn_aborted`. */
export async function callHttp(
  caller: HttpCaller,
  call: HttpCall,
  args: JsonObject,
  context: CallContext,
): Promise<ToolResult> {
  const deadline = startDeadline(call.timeoutMs, context.signal);
  try {
    const connection = runConnection(call.connection, caller.connections, context.connections);
    const access = openAccess(call.auth, connection, call.baseUrl);
    const progress = { caller, call, context, access, deadline };
    return await (call.pagination ? callPages(progress, call.pagination, args) : callOnce(progress, args));
  } catch (error) {
    return failed(error);
  } finally {
    deadline.end();
  }
}

async function callOnce(progress: CallInProgress, args: JsonObject): Promise<ToolResult> {
  const fetched = await fetchAnswer(progress, args, []);
  if (fetched.kind === "result") return fetched.result;
  return got(progress, chosenText(fetched.answer, progress.call.select));
}
