/**
 * The back end of the collections demo: customers, debts and payment plans, in memory, in plain Node.
 *
 *   node backend.mjs [port]        or BACKEND_PORT=…; 0 takes a free one. Default 4042. Bound to loopback.
 *
 * GET  /records/:entidad?field=value&limit=&offset=   → {rows, total}; entities: cob_cliente, cob_deuda, cob_acuerdo
 * POST /records   {entidad, …fields}                  → 201 and the record; honours `Idempotency-Key`
 * GET  /stats                                         → {writes, reads, records}
 */
import { createServer } from "node:http";

const maxBody = 100_000;

const seed = () => ({
  cob_cliente: [
    { id: "cli-7", cliente: 7, nombre: "Bruno Paz", ciudad: "Rosario" },
    { id: "cli-15", cliente: 15, nombre: "Carla Núñez", ciudad: "Córdoba" },
    { id: "cli-42", cliente: 42, nombre: "Ana Ferreyra", ciudad: "Mendoza" },
  ],
  cob_deuda: [
    { id: "deu-7", cliente: 7, concepto: "Préstamo personal", saldo: 52300, moneda: "ARS", vencida: true },
    { id: "deu-15", cliente: 15, concepto: "Tarjeta", saldo: 0, moneda: "ARS", vencida: false },
    { id: "deu-42", cliente: 42, concepto: "Préstamo prendario", saldo: 184000, moneda: "ARS", vencida: true },
  ],
  cob_acuerdo: [],
});

class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function createBackend() {
  const records = seed();
  const answered = new Map();
  const count = { writes: 0, reads: 0 };

  async function answer(request) {
    const url = new URL(request.url, "http://backend");
    const [, first, entity, ...rest] = url.pathname.split("/").map(decodeURIComponent);
    if (first === "stats" && entity === undefined && request.method === "GET") {
      const sizes = Object.fromEntries(Object.entries(records).map(([name, rows]) => [name, rows.length]));
      return [200, { ...count, records: sizes }];
    }
    if (first !== "records" || rest.length > 0) throw new Refusal(404, "no such address");
    if (request.method === "GET" && entity !== undefined) return [200, find(entity, url.searchParams)];
    if (request.method === "POST" && entity === undefined) {
      return create(await readJson(request), request.headers["idempotency-key"]);
    }
    throw new Refusal(405, `${request.method} is not possible here`);
  }

  function rowsOf(entity) {
    if (!Object.hasOwn(records, entity)) {
      throw new Refusal(404, `no entity ${entity}; there are ${Object.keys(records).join(", ")}`);
    }
    return records[entity];
  }

  function find(entity, query) {
    const { limit = "50", offset = "0", ...filters } = Object.fromEntries(query);
    const rows = rowsOf(entity).filter((row) =>
      Object.entries(filters).every(([field, value]) => String(row[field] ?? "") === value),
    );
    count.reads += 1;
    return { rows: rows.slice(Number(offset), Number(offset) + Number(limit)), total: rows.length };
  }

  function create(body, key) {
    const same = JSON.stringify(body);
    const before = key === undefined ? undefined : answered.get(key);
    if (before !== undefined) {
      if (before.same !== same) throw new Refusal(409, "this idempotency key was used for another record");
      return before.answer;
    }
    const { entidad, ...fields } = body;
    if (typeof entidad !== "string") throw new Refusal(422, "entidad is missing");
    const rows = rowsOf(entidad);
    const record = { ...fields, id: `${entidad}-${rows.length + 1}`, ...(entidad === "cob_acuerdo" && plan(fields)) };
    rows.push(record);
    count.writes += 1;
    const done = [201, { entidad, ...record }];
    if (key !== undefined) answered.set(key, { same, answer: done });
    return done;
  }

  return createServer((request, response) => {
    answer(request)
      .catch((error) => {
        if (error instanceof Refusal) return [error.status, { error: error.message }];
        if (error instanceof URIError) return [400, { error: "the address is not well-formed" }];
        return [500, { error: "something went wrong" }];
      })
      .then(([status, body]) => {
        response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
        response.end(JSON.stringify(body));
      });
  });
}

/** What a payment plan comes to: whole pesos an instalment; the first one carries the rest. */
function plan({ monto, cuotas }) {
  if (typeof monto !== "number" || !(monto > 0)) throw new Refusal(422, "monto must be a positive number");
  if (!Number.isInteger(cuotas) || cuotas < 1 || cuotas > 60) throw new Refusal(422, "cuotas must be from 1 to 60");
  const each = Math.floor(monto / cuotas);
  return { valor_cuota: each, primera_cuota: monto - each * (cuotas - 1), estado: "vigente" };
}

async function readJson(request) {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) {
    text += chunk;
    if (text.length > maxBody) throw new Refusal(413, "the body is too large");
  }
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refusal(400, "the body is not JSON");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new Refusal(422, "the body must be an object");
  return body;
}

const port = Number(process.argv[2] ?? process.env.BACKEND_PORT ?? 4042);
const server = createBackend();
server.on("error", (error) => {
  console.error(`The back end cannot listen on 127.0.0.1:${port}: ${error.code ?? error.message}`);
  process.exit(1);
});
server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
// Started with a channel by somebody who is gone: nobody else would stop us.
if (process.channel) process.once("disconnect", () => process.exit(0));
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    server.close(() => process.exit(0));
    server.closeIdleConnections();
  });
}
