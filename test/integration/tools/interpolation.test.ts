import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNetwork, type Network, type Tool } from "../../../src/agents/tools/index.js";
import type { JsonValue } from "../../../src/canonical/index.js";
import { type FakeBackend, type Received, startBackend } from "../../fakes/backend/index.js";
import { action, actionTool, callContext, secret } from "../../fixtures/tools.js";

let backend: FakeBackend;
let network: Network;
let tool: Tool;
beforeAll(async () => {
  backend = await startBackend();
  network = createNetwork();
  tool = actionTool(
    action({
      parameters: ["seg", "one", "mixed", "head", "value", "text"].map((name) => ({
        name,
        schema: {},
        required: false,
      })),
      request: {
        method: "POST",
        path: "/records/{seg}/notes",
        query: { one: "{one}", mixed: "<{mixed}>", fixed: "a b" },
        headers: { "X-Head": "v={head};" },
        body: { value: "{value}", text: "<{text}>", fixed: { keep: [1, "{undeclared}"] } },
      },
    }),
    { network, baseUrl: `${backend.url}/api` },
  );
});
afterAll(async () => {
  await network.close();
  await backend.close();
});

const texts = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ unit: fc.constantFrom(..."{}%/\\.?&=#;+ \r\n\t\"'ñ\u0000é2eE"), maxLength: 12 }),
  fc.constantFrom("{seg}", "{one}", "$1", "%7Bone%7D", "../..", "a&one=2", "x\r\nX-Evil: 1", "1#frag", "a?b"),
);
// Most of a path and of a header is refused; ordinary ones let the rest of the request be seen.
const ordinary = fc.constantFrom("42", "cob acuerdo", "50%", "a;b", "Ñ");
const scalars = fc.oneof(texts, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean());

describe("interpolation, seen from the server", () => {
  it("carries every accepted argument exactly and changes nothing else of the request", async () => {
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          seg: fc.oneof(ordinary, scalars),
          one: scalars,
          mixed: scalars,
          head: fc.oneof(ordinary, texts),
          value: fc.jsonValue(),
          text: scalars,
        }),
        async (args) => {
          const before = backend.received.length;
          const result = await tool.call(args as Record<string, JsonValue>, callContext());
          const request = backend.received[before];
          if (!result.ok) {
            expect(result).toMatchObject({ code: "bad_arguments", uncertain: false });
            expect(request).toBeUndefined();
            return;
          }
          sent += 1;
          if (request === undefined) throw new Error("the call is said to be done and never arrived");
          expect(backend.received).toHaveLength(before + 1);
          expectExactly(request, args as Record<string, JsonValue>);
        },
      ),
      { numRuns: 400 },
    );
    expect(sent).toBeGreaterThan(100);
  });
});

function expectExactly(request: Received, args: Readonly<Record<string, JsonValue>>): void {
  const [path = "", query = "", ...rest] = request.target.split("?");
  expect(rest).toEqual([]);
  expect(path.split("/").map(decodeURIComponent)).toEqual(["", "api", "records", shown(args.seg), "notes"]);
  expect(query.split("&").map((entry) => entry.split("=").map(decodeURIComponent))).toEqual([
    ["one", shown(args.one)],
    ["mixed", `<${shown(args.mixed)}>`],
    ["fixed", "a b"],
  ]);
  // Node reads headers as Latin-1, which is how they were written.
  expect(request.headers["x-head"]).toBe(`v=${shown(args.head)};`);
  expect(request.headers.authorization).toBe(`Bearer ${secret}`);
  expect(
    request.rawHeaders
      .filter((_, index) => index % 2 === 0)
      .map((name) => name.toLowerCase())
      .sort(),
  ).toEqual([
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "user-agent",
    "x-head",
  ]);
  expect(JSON.parse(request.body)).toEqual({
    value: JSON.parse(JSON.stringify(args.value)),
    text: `<${wellFormed(shown(args.text))}>`,
    fixed: { keep: [1, "{undeclared}"] },
  });
}

function shown(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function wellFormed(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
