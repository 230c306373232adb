import { describe, expect, it } from "vitest";
import { argumentCheck, closed, parameterSchema } from "../../../src/agents/tools/parameters.js";
import { DaleError } from "../../../src/errors/index.js";

const declared = parameterSchema([
  { name: "entidad", schema: { type: "string", enum: ["cob_acuerdo", "cob_deuda"] }, required: true, title: "Entity" },
  { name: "monto", schema: { type: "number", minimum: 0 }, required: false },
  { name: "cuotas", schema: { type: "integer" }, required: false, default: 1 },
  {
    name: "cliente",
    schema: {
      type: "object",
      properties: { id: { type: "integer", required: true }, nota: { type: "string" } },
      required: ["nota"],
    },
    required: false,
  },
]);
const check = argumentCheck("praxis_crear_record", declared);

describe("declared parameters", () => {
  it("become a closed JSON Schema, the shorthand for required ones included", () => {
    expect(declared).toMatchObject({ type: "object", required: ["entidad"], additionalProperties: false });
    expect(declared.properties).toMatchObject({
      cuotas: { type: "integer", default: 1 },
      cliente: { required: ["nota", "id"], properties: { id: { type: "integer" } } },
    });
    expect(JSON.stringify(declared)).not.toContain('"required":true');
  });

  it("accept what fits", () => {
    expect(check({ entidad: "cob_acuerdo", monto: 184000, cuotas: 3, cliente: { id: 42, nota: "" } })).toBeUndefined();
  });

  it.each([
    [{}, "entidad is missing"],
    [{ entidad: "otra" }, 'entidad must be one of ["cob_acuerdo","cob_deuda"]'],
    [{ entidad: "cob_deuda", monto: "184000" }, "monto must be number"],
    [{ entidad: "cob_deuda", monto: -1 }, "monto must be >= 0"],
    [{ entidad: "cob_deuda", cuotas: 1.5 }, "cuotas must be integer"],
    [{ entidad: "cob_deuda", cuotas: null }, "cuotas must be integer"],
    [{ entidad: "cob_deuda", cliente: { nota: "x" } }, "cliente.id is missing"],
    [
      { entidad: "cob_deuda", confirmed: true },
      "confirmed is not a parameter (there are: entidad, monto, cuotas, cliente)",
    ],
  ])("refuse %j", (args, words) => {
    expect(check(args)).toBe(words);
  });

  it("name several faults at once, but not all", () => {
    expect(check({ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 })).toMatch(/entidad is missing; a is not.*and 2 more$/);
  });

  it("repeat no argument's value to the model", () => {
    expect(check({ entidad: "p4ssw0rd", monto: "p4ssw0rd" })).not.toContain("p4ssw0rd");
  });
});

describe("a foreign schema", () => {
  it("is closed where it leaves open which arguments there are", () => {
    expect(argumentCheck("t", closed({ type: "object", properties: { a: {} } }))({ a: 1, b: 1 })).toMatch(/^b is not/);
    expect(closed({ type: "object", additionalProperties: true })).toEqual({
      type: "object",
      additionalProperties: true,
    });
    expect(closed({ type: "object", anyOf: [{}] })).toEqual({ type: "object", anyOf: [{}] });
  });

  it("is read in its own dialect", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "https://example.com/one",
      type: "object",
      properties: { pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] } },
    };
    expect(argumentCheck("t", schema)({ pair: ["a", 1] })).toBeUndefined();
    expect(argumentCheck("t", schema)({ pair: ["a", "b"] })).toBe("pair.1 must be integer");
    expect(argumentCheck("t", schema)({ pair: ["a", 1] })).toBeUndefined();
  });

  it.each([
    ["a broken one", { type: "object", properties: { a: { type: "nothing" } } }],
    ["one that refers elsewhere", { type: "object", properties: { a: { $ref: "https://example.com/x.json" } } }],
    ["an asynchronous one, which would let everything pass", { $async: true, type: "object" }],
    ["a nested asynchronous one", { type: "object", properties: { a: { $async: true, type: "string" } } }],
  ])("is refused: %s", (_what, schema) => {
    expect(() => argumentCheck("t", schema)).toThrow(DaleError);
  });
});
