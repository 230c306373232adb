import { z } from "zod";
import { DaleError } from "../errors/index.js";
import type { ApprovalAnswer, ApprovalDesk } from "./approval.js";

export interface GatewayAddress {
  /** Where Dale's API is, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly token?: string;
}

const patienceMs = 10_000;

const asked = z.object({ id: z.string() });
const shown = z.object({
  id: z.string(),
  state: z.string(),
  reviewer: z.string().optional(),
  comment: z.string().optional(),
  decided_at: z.string().optional(),
});

/** The gateway's approvals over its API. */
export function createGatewayDesk(address: GatewayAddress): ApprovalDesk {
  async function call(path: string, body?: unknown): Promise<{ readonly status: number; readonly data: unknown }> {
    const failed = (says: string, cause?: unknown) =>
      new DaleError("gateway_failed", `The gateway ${says}.`, cause === undefined ? {} : { cause });
    const response = await fetch(new URL(path, address.url), {
      method: body === undefined ? "GET" : "POST",
      headers: {
        "content-type": "application/json",
        ...(address.token === undefined ? {} : { authorization: `Bearer ${address.token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "error",
      signal: AbortSignal.timeout(patienceMs),
    }).catch((error: unknown) => {
      throw failed("does not answer", error);
    });
    const data: unknown = await response.json().catch(() => undefined);
    if (response.status === 401 || response.status === 403) {
      throw new DaleError("gateway_refused", "The gateway does not take this token.");
    }
    if (response.status === 400) throw new DaleError("gateway_refused", "The gateway does not take this request.");
    if (!response.ok && response.status !== 404 && response.status !== 409) throw failed(`answered ${response.status}`);
    return { status: response.status, data };
  }

  function answerIn(data: unknown, status: number): ApprovalAnswer {
    if (status === 404) return { state: "expired" };
    const parsed = shown.safeParse(data);
    if (!parsed.success) throw new DaleError("gateway_failed", "The gateway answered nonsense.");
    const { id, state, reviewer = "", comment = "", decided_at } = parsed.data;
    if (state === "waiting") return { state };
    if (state !== "approved" && state !== "rejected") return { state: "expired" };
    return { state, decision: { id, reviewer, comment, at: Date.parse(decided_at ?? "") || 0 } };
  }

  const place = (id: string) => `/v1/approvals/${encodeURIComponent(id)}`;
  return {
    async ask({ session, tool, args, timeoutMs }) {
      const { status, data } = await call("/v1/approvals", {
        session,
        tool,
        args: JSON.parse(args),
        timeout_ms: timeoutMs,
      });
      const parsed = asked.safeParse(data);
      if (status >= 400 || !parsed.success) throw new DaleError("gateway_failed", "The gateway answered nonsense.");
      return parsed.data.id;
    },
    async read(id) {
      const { status, data } = await call(place(id));
      return answerIn(data, status);
    },
    async withdraw(id) {
      const { status, data } = await call(`${place(id)}/withdraw`, {});
      return answerIn(data, status === 409 ? 200 : status);
    },
  };
}
