/**
 * Language models behind one method, and what turns speech into text. Knows providers and their faults; knows nothing of tools' code, sessions or gates.
 */
export type { AttemptLimits } from "./attempts.js";
export type {
  ChatModel,
  ModelCall,
  ModelImage,
  ModelMessage,
  ModelNote,
  ModelReply,
  ModelRequest,
  ModelTool,
  NoteKind,
} from "./chat-model.js";
export {
  createModel,
  type DeclaredModel,
  type ModelLogger,
  type ModelOptions,
  type ModelProblem,
  modelProblems,
} from "./create-model.js";
export { checkScript, createScriptedModel, loadScript, type Script } from "./scripted/index.js";
export { createTranscriber, type Transcribe } from "./transcription.js";
