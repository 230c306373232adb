import { setTimeout as sleep } from "node:timers/promises";
import { DaleError } from "../errors/index.js";
import {
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalDesk,
  type ApprovalQuestion,
  ApprovalRejectedError,
  ApprovalTimeoutError,
} from "./approval.js";

const firstPauseMs = 100;
const longestPauseMs = 1000;

/**
 * Asks, and looks for the answer until it is there or the time is over. While the desk cannot be reached it goes on.
 * @throws ApprovalRejectedError, ApprovalTimeoutError; what `ask` throws
 */
export async function awaitAnswer(desk: ApprovalDesk, question: ApprovalQuestion): Promise<ApprovalDecision> {
  const until = performance.now() + question.timeoutMs;
  const id = await desk.ask(question);
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 1.5, longestPauseMs)) {
    const left = until - performance.now();
    if (left <= 0) return conclude(id, await desk.withdraw(id).catch(unlessOver));
    await sleep(Math.min(pause, left));
    const answer = await desk.read(id).catch(unlessOver);
    if (answer.state !== "waiting") return conclude(id, answer);
  }
}

function conclude(id: string, answer: ApprovalAnswer): ApprovalDecision {
  if (answer.state === "approved") return answer.decision;
  if (answer.state === "rejected") throw new ApprovalRejectedError(answer.decision);
  throw new ApprovalTimeoutError(id);
}

/** What may be better in a moment is no answer yet. */
function unlessOver(error: unknown): ApprovalAnswer {
  if (error instanceof DaleError && !error.retryable) throw error;
  return { state: "waiting" };
}
