import { afterEach, expect, it } from "vitest";
import { createLedger, type Ledger, type LedgerOptions } from "../../../src/app/ledger.js";

let ledger: Ledger | undefined;
afterEach(async () => {
  await ledger?.close();
  ledger = undefined;
});

it.each([
  ["null", null, "expected object"],
  ["an unknown option", { redactPII: true }, "redactPII"],
  ["a Redis without a url", { redis: { url: undefined } }, "redis.url"],
  ["a Redis that is a text", { redis: "redis://127.0.0.1" }, "redis"],
  ["a misspelt option of Redis", { redis: { url: "redis://127.0.0.1", prefx: "{x}" } }, "prefx"],
  ["a gateway without a url", { gateway: { token: "t" } }, "gateway.url"],
  ["a gateway's url that is none", { gateway: { url: "127.0.0.1:8080" } }, "gateway.url"],
  ["a switch that is a text", { captureTools: "false" }, "captureTools"],
  ["a clock that is none", { now: 7 }, "now"],
])("createLedger refuses %s, and goes on with nothing else", (_, options, named) => {
  expect(() => createLedger(options as LedgerOptions)).toThrow(
    expect.objectContaining({ code: "config_invalid", message: expect.stringContaining(named) }),
  );
});

it("createLedger takes what is undefined for left out", () => {
  ledger = createLedger({ redis: undefined, gateway: undefined } as unknown as LedgerOptions);
  expect(ledger.confirmationArgsHash({})).toBeDefined();
});

const args = { amount: 1 };
const day = 24 * 3_600_000;

it.each([
  ["no options", ["t", args, null], "config_invalid", "{sessionId, timeoutMs}"],
  ["a misspelt option", ["t", args, { timeout: 5 }], "config_invalid", "timeout"],
  ["a time that is none", ["t", args, { timeoutMs: Number.NaN }], "config_invalid", "0 to 86400000"],
  ["an endless time", ["t", args, { timeoutMs: Number.POSITIVE_INFINITY }], "config_invalid", "0 to 86400000"],
  ["more than a day", ["t", args, { timeoutMs: day + 1 }], "config_invalid", "a day"],
  ["a negative time", ["t", args, { timeoutMs: -1 }], "config_invalid", "0 to 86400000"],
  ["a session that is none", ["t", args, { sessionId: "" }], "config_invalid", "sessionId"],
  ["a tool's name that is no text", [7, args], "approval_unavailable", "1 to 256 characters"],
  ["arguments that are too large", ["t", { text: "x".repeat(300_000) }], "approval_unavailable", "larger than 256 KiB"],
  ["no arguments but a null", ["t", null], "approval_unavailable", "no object"],
  ["a list of arguments", ["t", [1]], "approval_unavailable", "no object"],
  ["arguments that are no JSON", ["t", { at: new Date(0) }], "approval_unavailable", "Only plain objects"],
] as const)("awaitApproval names what is wrong with %s", async (_, given, code, named) => {
  ledger = createLedger({ gateway: { url: "http://127.0.0.1:1" } });
  const asked = (ledger.awaitApproval as (...each: readonly unknown[]) => Promise<unknown>)(...given);
  await expect(asked).rejects.toMatchObject({ code, message: expect.stringContaining(named) });
});

it("awaitApproval asks for a day at most, and without a ledger that could ask it says so", async () => {
  ledger = createLedger();
  await expect(ledger.awaitApproval("t", args, { timeoutMs: day })).rejects.toMatchObject({
    code: "approval_unavailable",
    message: expect.stringContaining("Nobody can be asked"),
  });
});
