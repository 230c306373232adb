import { Hono } from "hono";
import { z } from "zod";
import type { EvidenceEntry } from "../../evidence/index.js";
import type { HttpPorts } from "../ports.js";
import { createSessionFinder } from "../session-names.js";
import { deliveryJson, timeline } from "../timeline.js";

const limit = z.coerce.number().int().min(1).max(1000).catch(100);

/** What operators and tests read: sessions, timelines, deliveries, evidence, channels, unsettled executions. */
export function apiRoutes(ports: HttpPorts): Hono {
  const routes = new Hono();

  const sessionsOf = createSessionFinder(ports);

  routes.get("/agents", (c) => c.json({ items: ports.agents() }));

  routes.get("/sessions", async (c) => {
    const sessions = await ports.turns.sessions(limit.parse(c.req.query("limit")));
    const items = sessions.map(({ session, lastAt }) => ({
      id: session,
      opaque: ports.turns.opaque(session),
      last_at: new Date(lastAt).toISOString(),
    }));
    return c.json({ items });
  });

  routes.get("/sessions/:id", async (c) => {
    const names = await sessionsOf(c.req.param("id"));
    const count = limit.parse(c.req.query("limit"));
    const found = await Promise.all(
      names.map(async (session) => {
        const [turns, deliveries, evidence] = await Promise.all([
          ports.turns.recent({ session, limit: count }),
          ports.deliveries.recent({ session, limit: count * 2 }),
          ports.evidence.list({ session, limit: count * 5 }),
        ]);
        return { session, items: timeline(turns, deliveries, evidence) };
      }),
    );
    const { session, items } = found.find((each) => each.items.length > 0) ?? { session: names[0] ?? "", items: [] };
    if (items.length === 0) return c.json({ error: { code: "not_found", message: "No such session." } }, 404);
    const shown = items.map(({ at, kind, turn, detail }) => ({
      at: new Date(at).toISOString(),
      kind,
      turn,
      ...detail,
    }));
    return c.json({ session, opaque: ports.turns.opaque(session), items: shown });
  });

  routes.get("/evidence", async (c) => {
    const named = c.req.query("session");
    const proposal = c.req.query("proposal");
    const sessions = named === undefined ? [undefined] : await sessionsOf(named);
    const count = limit.parse(c.req.query("limit") ?? 1000);
    const readings = await Promise.all(
      sessions.map((session) =>
        ports.evidence.read({
          ...(session === undefined ? {} : { session }),
          ...(proposal === undefined ? {} : { proposal }),
          all: c.req.query("all") === "true",
          limit: count,
        }),
      ),
    );
    const complete = readings.every((reading) => reading.complete);
    const found = readings.flatMap(({ entries }) => entries);
    const items = sessions.length === 1 ? found : found.toSorted((one, other) => one.at - other.at).slice(-count);
    return c.json({
      items: items.map(evidenceJson),
      // The archive did not answer: these are only the entries that it does not have yet.
      ...(complete ? {} : { complete }),
    });
  });

  routes.get("/deliveries", async (c) => {
    const session = c.req.query("session");
    const deliveries = await ports.deliveries.recent({
      ...(session === undefined ? {} : { session: (await sessionsOf(session))[0] ?? session }),
      limit: limit.parse(c.req.query("limit")),
    });
    return c.json({ items: deliveries.map(deliveryJson) });
  });

  routes.get("/channels", async (c) => {
    const channels = await ports.channels();
    return c.json({
      items: channels.map(({ since, pairingCode, ...channel }) => ({
        ...channel,
        since: new Date(since).toISOString(),
        ...(pairingCode === undefined ? {} : { pairing_code: pairingCode }),
      })),
    });
  });

  routes.get("/unsettled", async (c) => {
    const items = await ports.unsettled.list(limit.parse(c.req.query("limit")));
    return c.json({
      items: items.map(({ argsHash, since, ...item }) => ({
        ...item,
        args_hash: argsHash,
        since: new Date(since).toISOString(),
      })),
    });
  });

  const verdict = z.strictObject({
    result: z.enum(["executed", "not_executed"]),
    comment: z.string().max(2000).default(""),
    by: z.string().min(1).max(200).default("operator"),
  });
  routes.post("/unsettled/:proposal", async (c) => {
    const parsed = verdict.safeParse(await c.req.json().catch(() => undefined));
    if (!parsed.success) {
      return c.json({ error: { code: "bad_request", message: z.prettifyError(parsed.error) } }, 400);
    }
    const settled = await ports.unsettled.settle(c.req.param("proposal"), { ...parsed.data, at: ports.now() });
    if (!settled) {
      return c.json({ error: { code: "conflict", message: "It is settled already, or not known." } }, 409);
    }
    return c.json({ settled: true });
  });

  return routes;
}

/** Whoever looks through evidence needs to know which arguments, not what they were: an export has them. */
function evidenceJson(entry: EvidenceEntry) {
  const { at, argsHash, detail, ...rest } = entry;
  const { args: _args, ...told } = detail;
  return { ...told, ...rest, at: new Date(at).toISOString(), args_hash: argsHash };
}
