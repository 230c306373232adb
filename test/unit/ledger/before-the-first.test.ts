import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { awaitApproval, confirmationArgsHash, confirmToolCall, withContext } from "../../../src/app/ledger.js";

it("answers no_client before the first ledger, and lets everything else be", async () => {
  await withContext({ sessionId: "s-1" }, async () => {
    expect(await confirmToolCall({ toolName: "t" })).toEqual({ recorded: false, reason: "no_client" });
  });
  expect(withContext({ sessionId: "s-1" }, () => 7)).toBe(7);
  expect(confirmationArgsHash({})).toBe(createHash("sha256").update("{}").digest("hex"));
  await expect(awaitApproval("t", {})).rejects.toMatchObject({ code: "approval_unavailable" });
});
