/**
 * An OpenAI-compatible model endpoint for tests: real HTTP, replies and faults as a test decides, every request kept.
 * It stands alone, and imports nothing of Dale.
 */
export type { WireMessage, WireRequest, WireToolCall } from "./protocol.js";
export {
  type FakeAnswer,
  type FakeFault,
  type FakeOpenAi,
  type FakeOpenAiOptions,
  type FakePuppeteer,
  type FakeReply,
  type FakeRequest,
  startFakeOpenAi,
} from "./server.js";
