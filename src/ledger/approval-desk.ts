import { randomUUID } from "node:crypto";
import type { ApprovalAnswer, ApprovalDesk, ApprovalQuestion } from "./approval.js";
import type { Approval } from "./approval-record.js";
import type { ApprovalStore } from "./approval-store.js";

/** The gateway's approvals, in the Redis that app and gateway share. */
export function createStoreDesk(store: ApprovalStore, now: () => number): ApprovalDesk {
  return {
    async ask(question) {
      const request = appRequest(question, now());
      await store.request(request);
      return request.id;
    },
    read: async (id) => answerIn(await store.read(id)),
    async withdraw(id) {
      const applied = await store.apply(id, { type: "expire", withdrawn: true, at: now() });
      return answerIn(applied?.approval);
    },
  };
}

/** An app's question as it is kept. */
export function appRequest(question: ApprovalQuestion, at: number): Approval {
  const { session, tool, args, fingerprint, timeoutMs } = question;
  return {
    version: 1,
    id: `apr-${randomUUID()}`,
    session,
    agent: "",
    tool,
    args,
    fingerprint,
    shown: "",
    origin: { kind: "app" },
    requestedAt: at,
    expiresAt: at + timeoutMs,
    current: { state: "waiting" },
  };
}

function answerIn(approval: Approval | undefined): ApprovalAnswer {
  const current = approval?.current;
  if (current?.state === "waiting") return { state: "waiting" };
  if (current?.state === "approved" || current?.state === "rejected") return current;
  return { state: "expired" };
}
