/** The part of OpenAI's chat completions that the fake speaks, and what the real endpoint refuses about it. */

export interface WireToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface WireMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | null | readonly unknown[];
  readonly tool_calls?: readonly WireToolCall[];
  readonly tool_call_id?: string;
}

export interface WireRequest {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly {
    readonly type: "function";
    readonly function: { readonly name: string; readonly description?: string; readonly parameters: unknown };
  }[];
  readonly [setting: string]: unknown;
}

/** What OpenAI answers 400 to: an unknown shape, a call without its result, a result without its call. */
export function wireProblem(body: unknown): string | undefined {
  if (!isRecord(body) || typeof body.model !== "string" || !Array.isArray(body.messages))
    return "not a chat completion";
  const open = new Set<string>();
  for (const message of body.messages) {
    if (!isRecord(message) || typeof message.role !== "string") return "a message without a role";
    if (message.role === "tool") {
      if (!open.delete(String(message.tool_call_id))) return "a tool message must follow the call that it answers";
      continue;
    }
    if (open.size > 0) return "an assistant message with tool_calls must be followed by a tool message for each";
    if (message.role === "assistant" && Array.isArray(message.tool_calls)) {
      for (const call of message.tool_calls) {
        const problem = callProblem(call);
        if (problem !== undefined) return problem;
        open.add(String(call.id));
      }
    }
  }
  if (open.size > 0) return "a tool call has no result";
  return toolsProblem(body.tools);
}

function callProblem(call: unknown): string | undefined {
  if (!isRecord(call) || typeof call.id !== "string" || !isRecord(call.function)) return "a malformed tool call";
  return typeof call.function.arguments === "string" ? undefined : "a tool call's arguments must be a string";
}

function toolsProblem(tools: unknown): string | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools) || tools.length === 0) return "tools must be a list with something in it";
  const bad = tools.some(
    (tool) => !isRecord(tool) || !isRecord(tool.function) || !/^[a-zA-Z0-9_-]{1,64}$/.test(String(tool.function.name)),
  );
  return bad ? "a tool's name must match ^[a-zA-Z0-9_-]{1,64}$" : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
