import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CobranzasBackend, startCobranzasBackend } from "../../fixtures/cobranzas-backend.js";

let backend: CobranzasBackend;
beforeAll(async () => {
  backend = await startCobranzasBackend();
});
afterAll(async () => {
  expect(await backend.stop()).toBe(0);
});

describe("the demo's back end", () => {
  it("listens on loopback and prints its address", () => {
    expect(backend.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("finds debts by any field", async () => {
    expect(await get("/records/cob_deuda?cliente=42")).toMatchObject({ total: 1, rows: [{ saldo: 184000 }] });
    expect(await get("/records/cob_deuda?vencida=true&limit=1&offset=1")).toMatchObject({
      total: 2,
      rows: [{ cliente: 42 }],
    });
    expect(await get("/records/cob_deuda?cliente=9999")).toEqual({ total: 0, rows: [] });
    expect(await get("/records/nothing")).toMatchObject({ error: expect.stringContaining("cob_cliente") });
  });

  it("writes a plan once for each idempotency key, and counts", async () => {
    const plan = { entidad: "cob_acuerdo", cuotas: 3, monto: 184000 };
    const before = await backend.writes();
    const first = await post(plan, "key-1");
    expect(first).toMatchObject({
      status: 201,
      body: { entidad: "cob_acuerdo", cuotas: 3, monto: 184000, valor_cuota: 61333 },
    });
    expect(await post(plan, "key-1")).toEqual(first);
    expect(await post({ ...plan, cuotas: 6 }, "key-1")).toMatchObject({ status: 409 });
    expect(await backend.writes()).toBe(before + 1);
    await post(plan);
    expect(await backend.writes()).toBe(before + 2);
    expect(await get("/records/cob_acuerdo")).toMatchObject({ total: before + 2 });
  });

  it.each([
    [{ entidad: "cob_acuerdo", cuotas: 0, monto: 1 }, 422],
    [{ entidad: "cob_acuerdo", cuotas: 3, monto: "184000" }, 422],
    [{ cuotas: 3 }, 422],
    [[1], 422],
    [{ entidad: "__proto__" }, 404],
    [{ entidad: "x".repeat(200_000) }, 413],
  ])("refuses %j with %i and writes nothing", async (body, status) => {
    const before = await backend.writes();
    expect((await post(body)).status).toBe(status);
    expect(await backend.writes()).toBe(before);
  });
});

async function get(path: string): Promise<unknown> {
  return await (await fetch(backend.url + path)).json();
}

async function post(body: unknown, key?: string): Promise<{ status: number; body: unknown }> {
  const headers = { "content-type": "application/json", ...(key !== undefined && { "idempotency-key": key }) };
  const response = await fetch(`${backend.url}/records`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}
