/** One message of a conversation, as models get it. Plain JSON; it is what memory keeps. */
export type ModelMessage =
  | { readonly role: "user"; readonly content: string; readonly images?: readonly ModelImage[] }
  | { readonly role: "assistant"; readonly content: string; readonly calls?: readonly ModelCall[] }
  | { readonly role: "tool"; readonly callId: string; readonly tool: string; readonly content: string };

export interface ModelImage {
  readonly mime: string;
  readonly data: Uint8Array;
}

/** A tool call as the model wrote it. `argumentsText` is its raw text: it has not been parsed by anybody. */
export interface ModelCall {
  readonly id: string;
  readonly tool: string;
  readonly argumentsText: string;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly signal: AbortSignal;
}

export interface ModelReply {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
}

/** The one method that the runtime needs of a model. */
export interface ChatModel {
  readonly name: string;
  /** @throws DaleError `model_failed` (may be tried again) or `model_refused` */
  generate(request: ModelRequest): Promise<ModelReply>;
}
