/** One message of a conversation, as models get it. Plain JSON but for images; without them it is what memory keeps. */
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

/**
 * What the runtime has to say about this turn, beside the agent's own prompt: e.g. that a waiting call was discarded.
 * Models get it as part of the system text, never as somebody's message. `text` is worded by the runtime alone.
 */
export interface ModelNote {
  readonly kind: NoteKind;
  /** The call that it is about. */
  readonly tool?: string;
  readonly text: string;
}

export type NoteKind =
  /** `gate.resume: model`: the person confirmed this call, the model has to make it. */
  | "granted"
  /** `gate.resume: runtime`: the person confirmed it and the runtime made it; its result is in the messages. */
  | "executed"
  | "discarded"
  | "expired"
  /** It could not be shown to the person and was given up. */
  | "unseen"
  /** An earlier run was cut off in the middle of the call: nobody knows whether it ran. */
  | "interrupted"
  /** The last step: no tools any more, answer now. */
  | "last_step"
  /** The answer did not fit the agent's output schema. */
  | "schema";

export interface ModelRequest {
  readonly system: string;
  readonly notes?: readonly ModelNote[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly signal: AbortSignal;
  /** When the run's time is over, ms since 1970: what a model may still begin depends on it. */
  readonly until?: number;
  /** Whether a reply without text and calls will do: the run has something to say already. Default false. */
  readonly mayBeEmpty?: boolean;
}

export interface ModelReply {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
}

/** The one method that the runtime needs of a model. */
export interface ChatModel {
  readonly name: string;
  /** Whether images in messages are looked at. Left out: no; the runtime then leaves them out. */
  readonly seesImages?: boolean;
  /**
   * One reply. Aborts with the request's signal.
   * @throws DaleError `model_failed` (may be tried again), `model_refused`, or `turn_aborted` when the signal aborted.
   * None of them carries texts, arguments or keys.
   */
  generate(request: ModelRequest): Promise<ModelReply>;
}
