/**
 * Language models behind one method. Knows providers and their faults; knows nothing of tools' code, sessions or gates.
 */
export type {
  ChatModel,
  ModelCall,
  ModelImage,
  ModelMessage,
  ModelReply,
  ModelRequest,
  ModelTool,
} from "./chat-model.js";
