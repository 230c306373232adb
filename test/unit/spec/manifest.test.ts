import { describe, expect, it } from "vitest";
import { load } from "./files.js";

const loadManifest = (spec: string) =>
  load({
    "integrations/m.integration.yaml":
      `apiVersion: astromesh/v1\nkind: Integration\nmetadata: { name: m, version: 0.2.0, description: > \n  Reaches it. }\nspec:\n${spec}`.replace(
        "description: > \n  Reaches it. }",
        'description: "Reaches it. " }',
      ),
  });
const oneAction = (action: string) => loadManifest(`  actions:\n    - { name: x, description: d, ${action} }\n`);

describe("an integration manifest", () => {
  it("has its actions, their requests and parameters in the order of the file", async () => {
    const { manifests, found } = await loadManifest(`  base_url: https://api.example.com/v2/
  auth: { scheme: header, credential: api_key, header_name: X-Api-Key }
  defaults: { timeout_seconds: 5, headers: { X-Version: "1" }, rate_limit: { max_calls: 10, period_seconds: 2 } }
  actions:
    - name: crear
      title: Crear acuerdo
      description: >
        Creates a plan.
      writes: true
      parameters:
        entidad: { type: string, description: What, required: true, title: Entidad }
        cuotas: { type: integer, minimum: 1, default: 3 }
        nota: {}
      request:
        method: POST
        path: /records/{entidad}
        query: { n: "{cuotas}" }
        headers: { X-Trace: "t-{cuotas}" }
        body: { entidad: "{entidad}", list: ["{nota}", 1] }
      response: { select: data.id }
      idempotency_header: Idempotency-Key
      rate_limit: { requests_per_second: 2 }
      timeout_seconds: 2
      allow_slash: [entidad]
    - name: listar
      description: Lists.
      request: { method: POST, path: /search, body: { cursor: "{cursor}" } }
      writes: false
      pagination: { style: cursor, cursor_path: meta.next, cursor_in: body }
    - name: paginas
      description: Lists.
      request: { method: GET, path: /pages }
      pagination: { style: offset, offset_param: offset, limit_param: limit }
    - { name: borrar, description: Deletes., request: { method: DELETE, path: /all } }
`);
    expect(found).toEqual([]);
    const manifest = manifests.get("m");
    expect(manifest).toEqual({
      name: "m",
      version: "0.2.0",
      description: "Reaches it.",
      file: manifest?.file,
      baseUrl: "https://api.example.com/v2",
      auth: { scheme: "header", credential: "api_key", headerName: "X-Api-Key" },
      timeoutMs: 5000,
      headers: { "X-Version": "1" },
      rateLimit: { count: 10, perMs: 2000 },
      actions: [
        {
          name: "crear",
          title: "Crear acuerdo",
          description: "Creates a plan.",
          parameters: [
            { name: "entidad", schema: { type: "string", description: "What" }, required: true, title: "Entidad" },
            { name: "cuotas", schema: { type: "integer", minimum: 1 }, required: false, default: 3 },
            { name: "nota", schema: { type: "string" }, required: false },
          ],
          writes: true,
          request: {
            method: "POST",
            path: "/records/{entidad}",
            query: { n: "{cuotas}" },
            headers: { "X-Trace": "t-{cuotas}" },
            body: { entidad: "{entidad}", list: ["{nota}", 1] },
          },
          select: "data.id",
          idempotencyHeader: "Idempotency-Key",
          rateLimit: { count: 2, perMs: 1000 },
          timeoutMs: 2000,
          allowSlash: ["entidad"],
        },
        {
          name: "listar",
          description: "Lists.",
          parameters: [],
          writes: false,
          request: { method: "POST", path: "/search", query: {}, headers: {}, body: { cursor: "{cursor}" } },
          pagination: { style: "cursor", cursorParam: "cursor", cursorPath: "meta.next", cursorIn: "body" },
          allowSlash: [],
        },
        {
          name: "paginas",
          description: "Lists.",
          parameters: [],
          writes: false,
          request: { method: "GET", path: "/pages", query: {}, headers: {} },
          pagination: { style: "offset", offsetParam: "offset", limitParam: "limit" },
          allowSlash: [],
        },
        {
          name: "borrar",
          description: "Deletes.",
          parameters: [],
          writes: true,
          request: { method: "DELETE", path: "/all", query: {}, headers: {} },
          allowSlash: [],
        },
      ],
    });
    expect(manifest?.actions[0]?.parameters.map(({ name }) => name)).toEqual(["entidad", "cuotas", "nota"]);
  });

  it("signs with nothing unless it says how", async () => {
    expect((await oneAction("request: { method: GET, path: /x }")).manifests.get("m")?.auth).toEqual({
      scheme: "none",
    });
    const bearer = await loadManifest(
      "  auth: { scheme: bearer }\n  actions: [{ name: x, description: d, request: { method: GET, path: /x } }]\n",
    );
    expect(bearer.manifests.get("m")?.auth).toEqual({ scheme: "bearer", credential: "access_token" });
  });

  const undeclared = (name: string) => `{${name}} is no declared parameter: declare it under parameters`;
  it.each([
    ["in its path", 'request: { method: GET, path: "/x/{id}" }', `"/x/{id}"› error: ${undeclared("id")}`],
    [
      "in its query",
      'request: { method: GET, path: /x, query: { q: "a {id}" } }',
      `"a {id}"› error: ${undeclared("id")}`,
    ],
    [
      "in a header",
      'parameters: { a: {} }, request: { method: GET, path: "/x", query: { a: "{a}" }, headers: { H: "{id}" } }',
      `"{id}"› error: ${undeclared("id")} (those are a)`,
    ],
    [
      "deep in its body",
      'request: { method: POST, path: /x, body: { a: [{ b: "{id}" }] } }',
      `"{id}"› error: ${undeclared("id")}`,
    ],
    ["as its body", 'request: { method: POST, path: /x, body: "{id}" }', `"{id}"› error: ${undeclared("id")}`],
  ])("is refused with a parameter that is not declared, %s", async (_where, action, expected) => {
    const { manifests, found } = await oneAction(action);
    expect(found).toEqual([`integrations/m.integration.yaml:6 ‹${expected}`]);
    expect(manifests.size).toBe(0);
  });

  it("is warned about with a parameter that goes nowhere or is optional in a path", async () => {
    const { manifests, found } = await oneAction(
      'parameters: { a: {}, b: {} }, request: { method: GET, path: "/x/{a}" }',
    );
    expect(found).toEqual([
      'integrations/m.integration.yaml:6 ‹parameters› warning: the parameter "b" goes nowhere: use {b} in path, query, headers or body, or leave it out',
      'integrations/m.integration.yaml:6 ‹"/x/{a}"› warning: {a} in a path is optional: a call without it fails; write required: true or a default',
    ]);
    expect(manifests.size).toBe(1);
  });

  it.each([
    [
      "a path that climbs",
      "request: { method: GET, path: /a/../b }",
      '/a/../b› error: "path" must not hold “.” or “..” as a step',
    ],
    [
      "a path to another host",
      'request: { method: GET, path: "@evil" }',
      '"@evil"› error: "path" has to begin with “/”',
    ],
    [
      "a header that is the transport's",
      "request: { method: GET, path: /x, headers: { Host: evil } }",
      "Host› error: this header is set by the transport: leave it out",
    ],
    [
      "a header of two lines",
      'request: { method: GET, path: /x, headers: { X-A: "a\\r\\nEvil: b" } }',
      '"a\\r\\nEvil: b"› error: "X-A" must be one line',
    ],
    [
      "a body in a GET",
      "request: { method: GET, path: /x, body: { a: 1 } }",
      "body› error: a GET request has no body: use query",
    ],
    [
      "a default of another type",
      'parameters: { a: { type: integer, default: "3" } }, request: { method: GET, path: /x }',
      '"3"› error: "default" must be of the parameter\'s own type',
    ],
    [
      "a default for what is required",
      "parameters: { a: { required: true, default: b } }, request: { method: GET, path: /x }",
      'b› error: "default" is required and has a default: keep one of the two',
    ],
    [
      "a type that there is not",
      "parameters: { a: { type: int } }, request: { method: GET, path: /x }",
      'int› error: "type" must be string, integer, number, boolean, array, object or null',
    ],
    [
      "a parameter with a name that no template can use",
      "parameters: { a-b: {} }, request: { method: GET, path: /x }",
      "a-b› error: a parameter's name has to begin with a letter and go on with letters, digits or “_”",
    ],
    [
      "a handler, which is code",
      "handler: python:x, request: { method: GET, path: /x }",
      'handler› error: unknown key "handler": the keys here are name, title, description, parameters, writes, request, response, pagination, idempotency_header, rate_limit, timeout_seconds, allow_slash',
    ],
    [
      "slashes for a parameter that is not there",
      "request: { method: GET, path: /x }, allow_slash: [path]",
      "path› error: allow_slash has to name a declared parameter of this action",
    ],
    [
      "two limits",
      "request: { method: GET, path: /x }, rate_limit: { requests_per_minute: 1, max_calls: 2 }",
      '{› error: "rate_limit" must be one limit: write { requests_per_minute: 30 } or { max_calls: 10, period_seconds: 60 }',
    ],
  ])("is refused with %s", async (_what, action, expected) => {
    const { manifests, found } = await oneAction(action);
    expect(found).toEqual([`integrations/m.integration.yaml:6 ‹${expected}`]);
    expect(manifests.size).toBe(0);
  });

  it("is refused with two actions of one name", async () => {
    const action = "    - { name: x, description: d, request: { method: GET, path: /x } }\n";
    expect((await loadManifest(`  actions:\n${action}${action}`)).found).toEqual([
      "integrations/m.integration.yaml:7 ‹x› error: this name stands here twice: give each action its own",
    ]);
  });

  it("is refused where its way of signing lacks a name", async () => {
    expect((await loadManifest("  auth: { scheme: query }\n  actions: []\n")).found).toEqual([
      'integrations/m.integration.yaml:5 ‹auth› error: "param_name" is missing: write for example param_name: key',
      'integrations/m.integration.yaml:6 ‹[› error: "actions" must not be empty, for example [{ name: …, description: …, request: … }]',
    ]);
  });
});
