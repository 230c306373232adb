import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { canonicalize, checkJson, fingerprint } from "../../canonical/index.js";
import type { Approval } from "../../ledger/index.js";
import { reviewerText, storedArguments } from "../../store/index.js";
import type { HttpPorts } from "../ports.js";

const limit = z.coerce.number().int().min(1).max(1000).catch(100);

const question = z.strictObject({
  session: z.string().max(512).default(""),
  tool: z.string().regex(/^[^\p{Cc}\p{Cs}]{1,256}$/u, "1 to 256 characters, none of them a control character"),
  args: z.record(z.string(), z.unknown(), "an object: what else there is, a reviewer is not shown").default({}),
  /** Ms; 5 minutes unless set, a day at most. */
  timeout_ms: z
    .number()
    .min(0)
    .max(24 * 3_600_000)
    .default(5 * 60_000),
});

const verdict = z.strictObject({
  comment: z.string().max(2000).default(""),
  reviewer: z.string().trim().min(1).max(200).default("operator"),
});

/**
 * Calls that wait for somebody else's yes: `GET /approvals` (`?state=over` for those that are decided), `POST
 * /approvals/<id>/approve` and `/reject` with `{comment, reviewer}`; a second decision is 409. Apps ask with
 * `POST /approvals` `{session, tool, args, timeout_ms}`, and look with `GET /approvals/<id>`.
 */
export function approvalRoutes(ports: Pick<HttpPorts, "approvals">): Hono {
  const { approvals } = ports;
  const routes = new Hono();
  const body = bodyLimit({ maxSize: 1024 * 1024 });
  const missing = { error: { code: "not_found", message: "No such approval." } };

  routes.get("/approvals", async (c) => {
    const state = c.req.query("state") === "over" ? "over" : "waiting";
    const items = await approvals.list(state, limit.parse(c.req.query("limit")));
    return c.json({ items: items.map(approvalJson) });
  });

  routes.get("/approvals/:id", async (c) => {
    const approval = await approvals.read(c.req.param("id"));
    return approval === undefined ? c.json(missing, 404) : c.json(approvalJson(approval));
  });

  routes.post("/approvals", body, async (c) => {
    const parsed = question.safeParse(await c.req.json().catch(() => undefined));
    if (!parsed.success) return c.json(badRequest(z.prettifyError(parsed.error)), 400);
    const { session, tool, timeout_ms: timeoutMs } = parsed.data;
    const checked = checkJson(parsed.data.args);
    if (!checked.ok) return c.json(badRequest(`These arguments cannot be shown: ${checked.message}`), 400);
    const args = canonicalize(checked.value);
    const asked = await approvals.ask({
      session,
      tool,
      args,
      fingerprint: fingerprint(tool, checked.value),
      timeoutMs,
    });
    return c.json(approvalJson(asked), 201);
  });

  for (const [action, outcome] of [
    ["approve", "approved"],
    ["reject", "rejected"],
  ] as const) {
    routes.post(`/approvals/:id/${action}`, body, async (c) => {
      const text = await c.req.text();
      const parsed = verdict.safeParse(text.trim() === "" ? {} : json(text));
      if (!parsed.success) return c.json(badRequest(z.prettifyError(parsed.error)), 400);
      const decided = await approvals.decide(c.req.param("id"), { outcome, ...parsed.data });
      if (decided === undefined) return c.json(missing, 404);
      if (decided.result === "decided") return c.json(approvalJson(decided.approval));
      return c.json({ error: { code: "conflict", message: "It is decided already, or its time is over." } }, 409);
    });
  }

  routes.post("/approvals/:id/withdraw", async (c) => {
    const approval = await approvals.withdraw(c.req.param("id"));
    return approval === undefined ? c.json(missing, 404) : c.json(approvalJson(approval));
  });
  return routes;
}

function badRequest(message: string) {
  return { error: { code: "bad_request", message } };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function approvalJson(approval: Approval) {
  const { id, tool, session, agent, fingerprint: argsHash, origin, requestedAt, expiresAt } = approval;
  return {
    id,
    tool,
    session,
    ...(agent === "" ? {} : { agent }),
    shows: reviewerText(approval),
    args: storedArguments(approval),
    args_hash: argsHash,
    from: origin.kind === "app" ? "app" : "conversation",
    ...(origin.kind === "turn" ? { turn: origin.turn } : {}),
    ...(origin.kind === "turn" && origin.consent ? { confirmed: origin.consent.proposal } : {}),
    requested_at: new Date(requestedAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    ...stateJson(approval),
  };
}

/** `approved` is said of whatever was approved; what became of the call stands in `result`. */
function stateJson({ current }: Approval) {
  if (!("decision" in current)) return { state: current.state };
  const { reviewer, comment, at } = current.decision;
  return {
    state: current.state === "rejected" ? "rejected" : "approved",
    reviewer,
    comment,
    decided_at: new Date(at).toISOString(),
    ...(current.state === "settled" ? { result: current.result.status } : {}),
    ...(current.state === "executing" ? { result: "running" } : {}),
  };
}
