import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { DaleError } from "../../errors/index.js";
import type { OutboundPart } from "../../outbound/index.js";
import type { TurnRecord } from "../../turns/index.js";
import type { HttpPorts } from "../ports.js";
import { apiSession } from "../session-names.js";

/** How long a caller waits at most; the run goes on after that. */
const waitMs = 5 * 60_000;

const body = z.strictObject({
  query: z.string().min(1),
  session_id: z.string().regex(/^[^\s\p{C}]{1,200}$/u, "1 to 200 characters without spaces"),
  desde_humano: z.boolean().default(true),
  connections: z.record(z.string(), z.record(z.string(), z.string())).optional(),
});

const workflowBody = z.strictObject({
  query: z.string().default(""),
  session_id: body.shape.session_id.default("default"),
});

/**
 * `POST /workflows/<name>/run` with `{query?, session_id?}` → `{answer, data?, workflow, propuestas}`; never a person's.
 * `POST /agents/<name>/run` with `{query, session_id, desde_humano?, connections?}` →
 * `{answer, notice?, pending?, propuestas}`. The answer ends with the notice; handing the response over is its delivery.
 */
export function runRoutes(
  ports: Pick<HttpPorts, "agents" | "workflows" | "runs" | "responses" | "seal" | "logger">,
): Hono<{ Bindings: HttpBindings }> {
  const routes = new Hono<{ Bindings: HttpBindings }>();
  const limit = bodyLimit({
    maxSize: 1024 * 1024,
    onError: (c) => c.json({ error: { code: "too_large", message: "The body is limited to 1 MiB." } }, 413),
  });

  routes.post("/agents/:name/run", limit, async (c) => {
    const agent = c.req.param("name");
    if (!ports.agents().some(({ name }) => name === agent)) {
      throw new DaleError("agent_unknown", `No agent named "${agent}" is loaded.`);
    }
    if (!/^application\/json\b/i.test(c.req.header("content-type") ?? "")) {
      return c.json({ error: { code: "bad_request", message: "Send JSON, with content-type application/json." } }, 415);
    }
    const parsed = body.safeParse(await c.req.json().catch(() => undefined));
    if (!parsed.success) {
      return c.json({ error: { code: "bad_request", message: z.prettifyError(parsed.error) } }, 400);
    }
    const { query, session_id, desde_humano, connections } = parsed.data;
    const secrets = connections ? await ports.seal(connections) : undefined;
    const record = await ports.runs.run(
      {
        origin: "api",
        agent,
        session: apiSession(agent, session_id),
        query,
        desdeHumano: desde_humano,
        ...(secrets === undefined ? {} : { secrets }),
      },
      AbortSignal.any([AbortSignal.timeout(waitMs), c.req.raw.signal]),
    );
    if (record.outcome === "failed") {
      return c.json({ error: { code: record.error ?? "unexpected", message: record.answer } }, 502);
    }
    const part = record.parts.at(-1);
    if (!part) return c.json(answerOf(record, undefined));
    const live = await ports.responses.begin(part);
    const handedOver = (whole: boolean) =>
      ports.responses.end(part, whole).catch(() => ports.logger.error({ turn: record.id }, "delivery not recorded"));
    const outgoing = c.env?.outgoing;
    if (outgoing) {
      let ended = false;
      const end = (whole: boolean) => {
        if (!ended) void handedOver(whole);
        ended = true;
      };
      outgoing.once("finish", () => end(true));
      outgoing.once("close", () => end(false));
    } else await handedOver(true);
    return c.json(answerOf(record, part, live));
  });

  routes.post("/workflows/:name/run", limit, async (c) => {
    const workflow = c.req.param("name");
    if (!ports.workflows().some(({ name }) => name === workflow)) {
      throw new DaleError("agent_unknown", `No workflow named "${workflow}" is loaded.`);
    }
    const parsed = workflowBody.safeParse(await c.req.json().catch(() => undefined));
    if (!parsed.success) {
      return c.json({ error: { code: "bad_request", message: z.prettifyError(parsed.error) } }, 400);
    }
    const { query, session_id } = parsed.data;
    const session = `workflow:${workflow}:${session_id}`;
    const asked = {
      origin: "workflow",
      target: "workflow",
      agent: workflow,
      session,
      query,
      desdeHumano: false,
    } as const;
    const record = await ports.runs.run(asked, AbortSignal.any([AbortSignal.timeout(waitMs), c.req.raw.signal]));
    if (record.outcome === "failed") {
      return c.json({ error: { code: record.error ?? "unexpected", message: record.answer } }, 502);
    }
    const { answer, data, steps, propuestas } = record;
    return c.json({ answer, ...(data === undefined ? {} : { data }), workflow: steps, propuestas });
  });
  return routes;
}

function answerOf(record: TurnRecord, part: OutboundPart | undefined, live = false) {
  const notice = part?.notice && live ? part.text.slice(part.notice.from) : undefined;
  const lapsed = part?.notice && !live ? part.text.slice(0, part.notice.from).trimEnd() : undefined;
  return {
    answer: lapsed ?? record.answer,
    ...(notice === undefined || !part?.notice
      ? {}
      : {
          notice,
          pending: { proposal: part.notice.proposal, expires_at: new Date(part.notice.expiresAt).toISOString() },
        }),
    propuestas: record.propuestas,
    ...(record.parked === undefined ? {} : { approvals: record.parked.map(({ id, tool }) => ({ id, tool })) }),
    ...(record.data === undefined ? {} : { data: record.data }),
    ...(record.steps === undefined ? {} : { chain: record.steps }),
  };
}
