import { isJsonObject, type JsonObject, parseStrict } from "../canonical/index.js";
import { wordCall } from "../gate/index.js";
import type { Approval } from "../ledger/index.js";

/**
 * What a reviewer is shown of a call: made from the stored text that will run, escaped as a notice is. The same wherever
 * it is shown, for the evidence keeps it as what they saw.
 */
export function reviewerText(approval: Pick<Approval, "tool" | "args">): string {
  return wordCall({ tool: approval.tool, args: storedArguments(approval) }, { locale: "en", formattingMarks: "" });
}

export function storedArguments({ args }: Pick<Approval, "args">): JsonObject {
  const parsed = parseStrict(args);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}
