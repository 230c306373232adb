import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNetwork, type Network, type ToolResult } from "../../../src/agents/tools/index.js";
import { type FakeBackend, type Fault, startBackend } from "../../fakes/backend/index.js";
import { action, actionTool, callContext, read } from "../../fixtures/tools.js";

let backend: FakeBackend;
let network: Network;
beforeEach(async () => {
  backend = await startBackend();
  network = createNetwork();
});
afterEach(async () => {
  await network.close();
  await backend.close();
});

const quick = { timeoutMs: 250 };

async function write(fault?: Fault, change = {}): Promise<ToolResult> {
  if (fault) backend.misbehave(fault);
  return await actionTool(action(change), { network, baseUrl: backend.url }).call({ entidad: "x" }, callContext());
}

async function look(fault?: Fault, change = {}): Promise<ToolResult> {
  if (fault) backend.misbehave(fault);
  return await actionTool(read("/x", change), { network, baseUrl: backend.url }).call({}, callContext());
}

describe("a write that fails", () => {
  it.each([400, 401, 403, 404, 408, 409, 422, 429, 500, 501, 503])(
    "was not done, says the server by %i",
    async (status) => {
      const result = await write({ kind: "status", status, body: '{"error":"monto fuera de rango"}' });
      expect(result).toMatchObject({ ok: false, code: `http_${status}`, uncertain: false });
      expect(result.content).toContain("monto fuera de rango");
    },
  );

  it.each([502, 504])("may have been done behind a gateway that says %i", async (status) => {
    expect(await write({ kind: "status", status })).toMatchObject({
      ok: false,
      code: `http_${status}`,
      uncertain: true,
    });
  });

  it("may have been done when the server never answers", async () => {
    expect(await write({ kind: "hang" }, quick)).toMatchObject({ ok: false, code: "timeout", uncertain: true });
    expect(backend.writes).toHaveLength(1);
  });

  it("may have been done when the connection is reset, before or after the server did it", async () => {
    expect(await write({ kind: "reset_before" })).toMatchObject({ ok: false, code: "reset", uncertain: true });
    expect(backend.writes).toHaveLength(0);
    expect(await write({ kind: "reset_after" })).toMatchObject({ ok: false, code: "reset", uncertain: true });
    expect(backend.writes).toHaveLength(1);
  });

  it("may have been done when the answer breaks off", async () => {
    expect(await write({ kind: "reset_in_body" })).toMatchObject({ ok: false, code: "reset", uncertain: true });
  });

  it("may have been done when the answer is not HTTP, or too large to be read", async () => {
    expect(await write({ kind: "garbage" })).toMatchObject({ ok: false, code: "bad_answer", uncertain: true });
    expect(await write({ kind: "huge", bytes: 50_000_000 })).toMatchObject({
      ok: false,
      code: "too_large",
      uncertain: true,
    });
  });

  it("was done when only the answer's content is none for a model", async () => {
    expect(await write({ kind: "content", type: "application/pdf", body: "%PDF-1.7" })).toMatchObject({ ok: true });
  });

  it("was surely not done when nobody listens, the name does not exist, or the certificate cannot be", async () => {
    const results = await Promise.all(
      [`http://127.0.0.1:${await unusedPort()}`, "http://nobody.invalid", `https://127.0.0.1:${backend.port}`].map(
        (baseUrl) => actionTool(action(), { network, baseUrl }).call({ entidad: "x" }, callContext()),
      ),
    );
    for (const result of results) expect(result).toMatchObject({ ok: false, code: "unreachable", uncertain: false });
    expect(backend.writes).toHaveLength(0);
  });

  it("is never sent twice, whatever happens", async () => {
    const faults: Fault[] = [
      { kind: "reset_after" },
      { kind: "reset_in_body" },
      { kind: "garbage" },
      { kind: "redirect", status: 307, to: "/again" },
      { kind: "redirect", status: 303, to: "/done" },
      { kind: "status", status: 503 },
    ];
    for (const fault of faults) await write(fault);
    expect(backend.received).toHaveLength(faults.length);
  });

  it.each([
    [301, true],
    [302, true],
    [303, true],
    [307, false],
    [308, false],
  ])("is not redirected by %i; that it may have been done is %s", async (status, uncertain) => {
    expect(await write({ kind: "redirect", status, to: "/records/1" })).toMatchObject({
      ok: false,
      code: "redirected",
      uncertain,
    });
    expect(backend.received).toHaveLength(1);
  });

  it("leaves nothing certain when it is stopped in the middle: it rejects", async () => {
    backend.misbehave({ kind: "hang" });
    const stop = new AbortController();
    const call = actionTool(action(), { network, baseUrl: backend.url }).call(
      { entidad: "x" },
      callContext({ signal: stop.signal }),
    );
    while (backend.writes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: "turn_aborted" });
  });

  it("does not begin when the run was already stopped", async () => {
    const tool = actionTool(action(), { network, baseUrl: backend.url });
    await expect(tool.call({ entidad: "x" }, callContext({ signal: AbortSignal.abort() }))).rejects.toMatchObject({
      code: "turn_aborted",
    });
    expect(backend.received).toHaveLength(0);
  });
});

describe("a read that fails", () => {
  it("follows a redirect within the origin, with its credentials, a few times", async () => {
    backend.misbehave({ kind: "redirect", status: 302, to: "/elsewhere?a=1" }, 1);
    expect(await look()).toEqual({ ok: true, content: '{"rows":[]}' });
    expect(backend.received.map(({ target }) => target)).toEqual(["/x", "/elsewhere?a=1"]);
    expect(backend.received[1]?.headers.authorization).toBe(backend.received[0]?.headers.authorization);
    expect(await look({ kind: "redirect", status: 302, to: "/loop" })).toMatchObject({
      code: "redirected",
      uncertain: false,
    });
    expect(backend.received).toHaveLength(2 + 4);
  });

  it("follows none to another origin", async () => {
    const other = await startBackend();
    for (const to of [
      `${other.url}/x`,
      `//127.0.0.1:${other.port}/x`,
      "https://127.0.0.1/x",
      "file:///etc/passwd",
      "http://[",
    ]) {
      expect(await look({ kind: "redirect", status: 302, to }), to).toMatchObject({ code: "redirected" });
    }
    expect(other.received).toHaveLength(0);
    await other.close();
  });

  it("stops reading an answer of 50 MB at the limit", async () => {
    expect(await look({ kind: "huge", bytes: 50_000_000 })).toMatchObject({ ok: false, code: "too_large" });
    expect(backend.sentBytes()).toBeLessThan(20_000_000);
    expect(await look({ kind: "huge", bytes: 50_000_000, declared: true })).toMatchObject({
      ok: false,
      code: "too_large",
    });
  });

  it("reads an answer of just the limit", async () => {
    const small = createNetwork({ maxBytes: 1000 });
    backend.misbehave({ kind: "huge", bytes: 1000, type: "text/plain" });
    const result = await actionTool(read("/x"), { network: small, baseUrl: backend.url }).call({}, callContext());
    expect(result.content).toBe("a".repeat(1000));
    backend.misbehave({ kind: "huge", bytes: 1001, type: "text/plain" });
    expect(
      await actionTool(read("/x"), { network: small, baseUrl: backend.url }).call({}, callContext()),
    ).toMatchObject({
      code: "too_large",
    });
    await small.close();
  });

  it("stops a compressed bomb while it unfolds", async () => {
    expect(await look({ kind: "bomb", bytes: 200_000_000 })).toMatchObject({ ok: false, code: "too_large" });
  });

  it("ends at its time, however busily the answer drips", async () => {
    expect(await look({ kind: "drip", everyMs: 10 }, quick)).toMatchObject({ ok: false, code: "timeout" });
  });

  it.each(["image/png", "application/octet-stream", "application/pdf", "multipart/form-data"])(
    "does not hand %s to the model",
    async (type) => {
      expect(await look({ kind: "content", type, body: "BINARY-CONTENT" })).toEqual({
        ok: false,
        code: "not_text",
        content: "The server's answer is neither JSON nor text.",
        uncertain: false,
      });
    },
  );

  it("judges an answer without a content type by its bytes", async () => {
    expect(await look({ kind: "content", body: "hola" })).toEqual({ ok: true, content: "hola" });
    expect(await look({ kind: "content", body: Uint8Array.of(0xff, 0xd8, 0xff, 0) })).toMatchObject({
      code: "not_text",
    });
  });

  it("keeps the status of a refusal whose text cannot be read", async () => {
    expect(await look({ kind: "content", status: 404, type: "image/png", body: "x" })).toMatchObject({
      code: "http_404",
      uncertain: false,
    });
    const small = createNetwork({ maxBytes: 10 });
    backend.misbehave({ kind: "status", status: 404, body: "x".repeat(100) });
    const result = await actionTool(action(), { network: small, baseUrl: backend.url }).call(
      { entidad: "x" },
      callContext(),
    );
    expect(result).toMatchObject({ code: "http_404", uncertain: false });
    await small.close();
  });

  it("hands on text that claims to be JSON and is not", async () => {
    expect(await look({ kind: "content", type: "application/json", body: "<b>oops</b>" }, { select: "a" })).toEqual({
      ok: true,
      content: "<b>oops</b>",
    });
  });

  it("is made again on a new connection when the pooled one was already closed", async () => {
    expect((await look()).ok).toBe(true);
    backend.misbehave({ kind: "reset_before" }, 1);
    expect((await look()).ok).toBe(true);
    expect(backend.connections()).toBe(2);
  });
});

async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 1;
}
