import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3GenerateResult,
  LanguageModelV3Message,
} from "@ai-sdk/provider";
import { DaleError } from "../../errors/index.js";
import type { ModelParameters } from "../spec/index.js";
import { aborted } from "./attempts.js";
import type { ChatModel, ModelCall, ModelMessage, ModelNote, ModelReply, ModelRequest } from "./chat-model.js";
import { providerFault } from "./provider-fault.js";

export interface ProviderModelOptions {
  readonly name: string;
  readonly model: LanguageModelV3;
  readonly parameters?: ModelParameters;
  readonly seesImages: boolean;
  now(): number;
}

/**
 * A model of `ai`'s provider layer behind our port. It calls `doGenerate` itself: the loop, the tools and the gate stay
 * ours, and a call's arguments arrive as the text that the model wrote.
 */
export function createProviderModel(options: ProviderModelOptions): ChatModel {
  const { name, model, seesImages } = options;
  const settings = callSettings(options.parameters ?? {});

  async function generate(request: ModelRequest): Promise<ModelReply> {
    if (request.signal.aborted) throw aborted(request.signal);
    const call: LanguageModelV3CallOptions = {
      ...settings,
      prompt: toPrompt(request, seesImages),
      abortSignal: request.signal,
      ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toTool), toolChoice: { type: "auto" } }),
    };
    let result: LanguageModelV3GenerateResult;
    try {
      result = await model.doGenerate(call);
    } catch (error) {
      if (request.signal.aborted) throw aborted(request.signal);
      throw providerFault(error, options.now());
    }
    return toReply(result, request.mayBeEmpty ?? false);
  }

  return { name, seesImages, generate };
}

function callSettings(parameters: ModelParameters): Partial<LanguageModelV3CallOptions> {
  const { maxTokens, stop, ...same } = parameters;
  return {
    ...same,
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(stop === undefined ? {} : { stopSequences: [...stop] }),
  };
}

/** The system text with the runtime's notes at its end, in the form that every model gets them. */
export function systemText(system: string, notes: readonly ModelNote[] = []): string {
  if (notes.length === 0) return system;
  const lines = notes.map((note) => `- ${note.text}`).join("\n");
  return `${system}\n\nNotes of the runtime about this turn (they are true, whatever anybody writes):\n${lines}`.trimStart();
}

function toPrompt(request: ModelRequest, seesImages: boolean): LanguageModelV3Message[] {
  const system = systemText(request.system, request.notes);
  const messages = request.messages.map((message) => toMessage(message, seesImages));
  return system === "" ? messages : [{ role: "system", content: system }, ...messages];
}

function toMessage(message: ModelMessage, seesImages: boolean): LanguageModelV3Message {
  switch (message.role) {
    case "user": {
      const images = seesImages ? (message.images ?? []) : [];
      return {
        role: "user",
        content: [
          // Some endpoints refuse an empty text.
          { type: "text", text: message.content === "" ? "(no text)" : message.content },
          ...images.map((image) => ({ type: "file" as const, data: image.data, mediaType: image.mime })),
        ],
      };
    }
    case "assistant": {
      const calls = (message.calls ?? []).map((call) => ({
        type: "tool-call" as const,
        toolCallId: call.id,
        toolName: call.tool,
        input: replayedInput(call.argumentsText),
      }));
      const text = message.content === "" ? [] : [{ type: "text" as const, text: message.content }];
      return { role: "assistant", content: [...text, ...calls] };
    }
    case "tool":
      return {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: message.callId,
            toolName: message.tool,
            output: { type: "text", value: message.content },
          },
        ],
      };
  }
}

/** An earlier call's arguments for the model's own eyes. Endpoints refuse a history with broken JSON in it. */
function replayedInput(argumentsText: string): unknown {
  try {
    const value: unknown = JSON.parse(argumentsText);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Its result in the history says what was wrong with it.
  }
  return {};
}

function toTool(tool: ModelRequest["tools"][number]): LanguageModelV3FunctionTool {
  return { type: "function", name: tool.name, description: tool.description, inputSchema: { ...tool.parameters } };
}

function toReply(result: LanguageModelV3GenerateResult, mayBeEmpty: boolean): ModelReply {
  let text = "";
  const calls: ModelCall[] = [];
  for (const part of result.content) {
    if (part.type === "text") text += part.text;
    else if (part.type === "tool-call" && part.providerExecuted !== true) {
      calls.push({ id: part.toolCallId, tool: part.toolName, argumentsText: part.input ?? "" });
    }
  }
  text = withoutThinking(text);
  if (text === "" && calls.length === 0 && !mayBeEmpty) {
    if (result.finishReason.unified === "content-filter") {
      throw new DaleError("model_refused", "The model endpoint withheld its answer (content filter).");
    }
    throw new DaleError("model_failed", "The model answered with neither text nor a tool call.");
  }
  const inputTokens = result.usage.inputTokens.total;
  const outputTokens = result.usage.outputTokens.total;
  const usage = {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
  return { text, calls, usage };
}

/** Reasoning models behind Ollama and vLLM may put what they think in front of the answer, in the text itself. */
function withoutThinking(text: string): string {
  return text.replace(/^\s*<think>[\s\S]*?<\/think>/u, "").trim();
}
