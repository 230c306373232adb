import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ActionDefinition } from "../../../src/agents/spec/index.js";
import { createNetwork, type Network } from "../../../src/agents/tools/index.js";
import { type FakeBackend, startBackend } from "../../fakes/backend/index.js";
import { action, actionTool, callContext, firstOf, manifest, read, secret, toolsOf } from "../../fixtures/tools.js";

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

const world = () => ({ network, baseUrl: backend.url });

describe("an integration's tool", () => {
  it("has the name, the labels and the flags that its files give it", () => {
    const [crear, leer] = toolsOf(
      {
        type: "integration",
        name: "mi-erp",
        manifest: "praxis",
        connection: "main",
        actions: ["crear_record", "leer"],
        confirm: ["crear_record"],
      },
      world(),
      manifest({
        actions: [
          action({ title: "Create", parameters: [{ name: "monto", title: "Amount", schema: {}, required: false }] }),
          read("/x"),
        ],
      }),
    );
    expect(crear).toMatchObject({
      name: "mi_erp_crear_record",
      kind: "integration",
      needsConfirmation: true,
      requiresApproval: true,
      title: "Create",
      argumentTitles: { monto: "Amount" },
    });
    expect(leer).toMatchObject({ name: "mi_erp_leer", needsConfirmation: false, requiresApproval: false });
    expect(leer?.proposes).toBeUndefined();
  });

  it("sends arguments with their types, and leaves out those that were not given", async () => {
    const tool = actionTool(action(), world());
    const result = await tool.call({ entidad: "cob_acuerdo", cuotas: 3, monto: 184000 }, callContext());
    expect(result).toEqual({ ok: true, content: '{"id":"rec-1","ok":true}' });
    await tool.call({ entidad: "cob_acuerdo" }, callContext());
    expect(backend.writes.map(({ body }) => JSON.parse(body))).toEqual([
      { entidad: "cob_acuerdo", cuotas: 3, monto: 184000 },
      { entidad: "cob_acuerdo" },
    ]);
    expect(backend.writes[0]?.headers["content-type"]).toBe("application/json");
  });

  it("sends the declared default of an argument that was not given", async () => {
    const parameters = [{ name: "moneda", schema: { type: "string" }, required: false, default: "ARS" }];
    const tool = actionTool(action({ parameters, request: post({ moneda: "{moneda}" }) }), world());
    await tool.call({}, callContext());
    await tool.call({ moneda: "USD" }, callContext());
    expect(backend.writes.map(({ body }) => body)).toEqual(['{"moneda":"ARS"}', '{"moneda":"USD"}']);
  });

  it("gives a body of exactly {param} the value itself, and none where it was not given", async () => {
    const parameters = [{ name: "campos", schema: { type: "object" }, required: false }];
    const tool = actionTool(action({ parameters, request: post("{campos}") }), world());
    await tool.call({ campos: { a: [1, { b: null }] } }, callContext());
    await tool.call({}, callContext());
    expect(backend.writes[0]?.body).toBe('{"a":[1,{"b":null}]}');
    expect(backend.writes[1]?.body).toBe("");
    expect(backend.writes[1]?.headers["content-type"]).toBeUndefined();
  });

  it("writes forms and plain text where the manifest's content type asks for them", async () => {
    const parameters = [{ name: "nota", schema: { type: "string" }, required: true }];
    const form = {
      ...post({ nota: "{nota}", tags: ["a", "b"] }),
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    };
    await actionTool(action({ parameters, request: form }), world()).call({ nota: "a&b=c ñ" }, callContext());
    const text = { ...post("Nota: {nota}"), headers: { "Content-Type": "text/plain; charset=utf-8" } };
    await actionTool(action({ parameters, request: text }), world()).call({ nota: '"x"\ny' }, callContext());
    expect(backend.writes.map(({ body }) => body)).toEqual(["nota=a%26b%3Dc%20%C3%B1&tags=a&tags=b", 'Nota: "x"\ny']);
  });

  it("sends the key of the call in the header that the manifest names, so that a repetition is written once", async () => {
    const tool = actionTool(action({ idempotencyHeader: "Idempotency-Key" }), world());
    for (let time = 0; time < 3; time++) await tool.call({ entidad: "x" }, callContext({ idempotencyKey: "prop-7" }));
    expect(backend.received).toHaveLength(3);
    expect(backend.writes).toHaveLength(1);
    expect(backend.writes[0]?.headers["idempotency-key"]).toBe("prop-7");
  });

  it("makes every write on a connection of its own, and shares connections between reads", async () => {
    const write = actionTool(action(), world());
    await write.call({ entidad: "a" }, callContext());
    await write.call({ entidad: "b" }, callContext());
    expect(backend.connections()).toBe(2);
    const reads = actionTool(read("/x"), world());
    for (let time = 0; time < 5; time++) await reads.call({}, callContext());
    expect(backend.connections()).toBe(3);
  });

  it("signs by each scheme, and lets a run bring its own credentials", async () => {
    const credentials = { api_key: secret, login: "ana:hunter22" };
    const signed = (auth: Parameters<typeof manifest>[0]) =>
      actionTool(read("/x?a=1"), { ...world(), credentials }, auth);
    await signed({ auth: { scheme: "bearer", credential: "api_key" } }).call({}, callContext());
    await signed({ auth: { scheme: "header", credential: "api_key", headerName: "X-Key" } }).call({}, callContext());
    await signed({ auth: { scheme: "query", credential: "api_key", paramName: "key" } }).call({}, callContext());
    await signed({ auth: { scheme: "basic", credential: "login" } }).call({}, callContext());
    await signed({ auth: { scheme: "none" } }).call({}, callContext());
    await signed({}).call({}, callContext({ connections: { main: { api_key: "of-the-run" } } }));
    const heads = backend.received.map(({ headers, target }) => [headers.authorization ?? headers["x-key"], target]);
    expect(heads).toEqual([
      [`Bearer ${secret}`, "/x?a=1"],
      [secret, "/x?a=1"],
      [undefined, `/x?a=1&key=${encodeURIComponent(secret)}`],
      [`Basic ${Buffer.from("ana:hunter22").toString("base64")}`, "/x?a=1"],
      [undefined, "/x?a=1"],
      ["Bearer of-the-run", "/x?a=1"],
    ]);
  });

  it("takes the address of the connection before that of the manifest, with its path", async () => {
    const own = { ...world(), baseUrl: `${backend.url}/api/v2/` };
    await actionTool(read("/x"), own, { baseUrl: "http://127.0.0.1:1" }).call({}, callContext());
    expect(backend.received[0]?.target).toBe("/api/v2/x");
  });

  it.each([
    ["no address at all", undefined],
    ["something that is no URL", "erp"],
    ["another protocol", "file:///etc/passwd"],
    ["credentials", "http://ana:hunter22@127.0.0.1"],
    ["a query", "http://127.0.0.1/?a=1"],
  ])("is not called with %s for a base_url", async (_what, base_url) => {
    const tool = actionTool(read("/x"), world());
    const connections = base_url === undefined ? {} : { main: { base_url, api_key: "k-of-the-run" } };
    const nowhere =
      base_url === undefined
        ? firstOf(toolsOf(unconnected, world(), manifest({ actions: [read("/x")], auth: { scheme: "none" } })))
        : tool;
    const result = await nowhere.call({}, callContext({ connections }));
    expect(result).toMatchObject({ ok: false, code: "bad_connection", uncertain: false });
    expect(result.content).not.toContain("hunter22");
    expect(backend.received).toHaveLength(0);
  });

  it("is not called without its credential", async () => {
    const result = await actionTool(read("/x"), { ...world(), credentials: {} }).call({}, callContext());
    expect(result).toMatchObject({ ok: false, code: "bad_connection", uncertain: false });
    expect(result.content).toContain("main does not hold api_key");
    expect(backend.received).toHaveLength(0);
  });

  it("lets neither a manifest's header nor an argument take the place of the credential or the key", async () => {
    const parameters = [{ name: "h", schema: { type: "string" }, required: true }];
    const request = { ...post({}), headers: { Authorization: "{h}", "Idempotency-Key": "{h}", "X-Other": "{h}" } };
    const tool = actionTool(action({ parameters, request, idempotencyHeader: "idempotency-key" }), world());
    await tool.call({ h: "mine" }, callContext());
    expect(backend.writes[0]?.headers).toMatchObject({
      authorization: `Bearer ${secret}`,
      "idempotency-key": "prop-1",
      "x-other": "mine",
    });
  });

  it.each(["a\r\nX-Evil: 1", "a\nb", "a\u0000b", "ключ", "👍", " a", "a\t"])(
    "refuses the argument %j in a header",
    async (h) => {
      const parameters = [{ name: "h", schema: { type: "string" }, required: true }];
      const tool = actionTool(
        read("/x", { parameters, request: { method: "GET", path: "/x", query: {}, headers: { "X-H": "{h}" } } }),
        world(),
      );
      expect(await tool.call({ h }, callContext())).toMatchObject({
        ok: false,
        code: "bad_arguments",
        uncertain: false,
      });
      expect(backend.received).toHaveLength(0);
    },
  );

  it.each(["Host", "Content-Length", "Transfer-Encoding", "Connection", "bad name"])(
    "never sets the header %s",
    async (name) => {
      const tool = actionTool(
        read("/x", { request: { method: "GET", path: "/x", query: {}, headers: { [name]: "7" } } }),
        world(),
      );
      expect(await tool.call({}, callContext())).toMatchObject({ ok: false, uncertain: false });
      expect(backend.received).toHaveLength(0);
    },
  );
});

describe("what the model gets of an answer", () => {
  it("is JSON as the server wrote it, long ids included", async () => {
    backend.misbehave({ kind: "content", type: "application/json", body: '{ "id": 9007199254740993 }' });
    expect(await actionTool(read("/x"), world()).call({}, callContext())).toEqual({
      ok: true,
      content: '{ "id": 9007199254740993 }',
    });
  });

  it("is what stands at the manifest's select", async () => {
    backend.misbehave({
      kind: "content",
      type: "application/json",
      body: '{"data":{"rows":[{"id":9007199254740993},{"id":2}]},"t":"x"}',
    });
    const selected = async (select: string) =>
      (await actionTool(read("/x", { select }), world()).call({}, callContext())).content;
    expect(await selected("data.rows")).toBe('[{"id":"9007199254740993"},{"id":2}]');
    expect(await selected("data.rows[*].id")).toBe('["9007199254740993",2]');
    expect(await selected("t")).toBe("x");
    expect(await selected("data.nothing")).toBe("The answer holds nothing at data.nothing.");
  });

  it("is text in the charset that the server names", async () => {
    backend.misbehave({
      kind: "content",
      type: "text/plain; charset=ISO-8859-1",
      body: Buffer.from("se\u00f1al", "latin1"),
    });
    expect((await actionTool(read("/x"), world()).call({}, callContext())).content).toBe("señal");
  });

  it("is cut to what a model may be handed, and says so", async () => {
    backend.misbehave({ kind: "content", type: "text/plain", body: "ñ".repeat(300) + "👍".repeat(300) });
    const { content } = await actionTool(read("/x"), { ...world(), options: { maxChars: 401 } }).call(
      {},
      callContext(),
    );
    expect(content).toBe(
      `${"ñ".repeat(300)}${"👍".repeat(50)}\n[Cut here: 400 of 900 characters. Ask for less to see the rest.]`,
    );
  });

  it("says that it was done where the server says no more", async () => {
    backend.misbehave({ kind: "content", status: 204, body: "" });
    expect(await actionTool(action(), world()).call({ entidad: "x" }, callContext())).toEqual({
      ok: true,
      content: "Done (status 204); the answer is empty.",
    });
  });

  it("never holds the secret that the server sends back", async () => {
    backend.misbehave({ kind: "echo" });
    for (const auth of [
      { scheme: "bearer", credential: "api_key" },
      { scheme: "query", credential: "api_key", paramName: "key" },
    ] as const) {
      const { content } = await actionTool(read("/x"), world(), { auth }).call({}, callContext());
      expect(content).toContain("[redacted]");
      expect(content).not.toContain(secret);
      expect(content).not.toContain(encodeURIComponent(secret));
    }
  });

  it("never holds it in an error either, nor cut in half", async () => {
    backend.misbehave({ kind: "status", status: 403, body: `${"x".repeat(1990)}${secret}` });
    const { content } = await actionTool(read("/x"), world()).call({}, callContext());
    expect(content).not.toContain(secret.slice(0, 6));
  });
});

describe("a declared limit of calls", () => {
  const slow: Partial<ActionDefinition> = { rateLimit: { count: 2, perMs: 60_000 }, timeoutMs: 500 };

  it("refuses what cannot wait, without calling, and counts over all agents of the process", async () => {
    const results = [];
    for (let time = 0; time < 4; time++)
      results.push(await actionTool(read("/x", slow), world()).call({}, callContext()));
    expect(results.map((result) => (result.ok ? "ok" : result.code))).toEqual([
      "ok",
      "ok",
      "rate_limited",
      "rate_limited",
    ]);
    expect(results[3]).toMatchObject({ uncertain: false });
    expect(backend.received).toHaveLength(2);
  });

  it("makes a call wait where that is short", async () => {
    const tool = actionTool(read("/x", { rateLimit: { count: 1, perMs: 50 } }), world());
    const results = await Promise.all([1, 2, 3].map(() => tool.call({}, callContext())));
    expect(results.every(({ ok }) => ok)).toBe(true);
  });

  it("stops waiting when the run is stopped", async () => {
    const tool = actionTool(read("/x", { rateLimit: { count: 1, perMs: 3000 } }), world());
    await tool.call({}, callContext());
    const stop = new AbortController();
    const waiting = tool.call({}, callContext({ signal: stop.signal }));
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: "turn_aborted" });
    expect(backend.received).toHaveLength(1);
  });
});

const unconnected = {
  type: "integration",
  name: "praxis",
  manifest: "praxis",
  actions: ["leer"],
  confirm: [],
} as const;

function post(body: ActionDefinition["request"]["body"]): ActionDefinition["request"] {
  return { method: "POST", path: "/records", query: {}, headers: {}, ...(body !== undefined && { body }) };
}
