import { describe, expect, it } from "vitest";
import { readPolicies } from "../../../src/app/ledger.js";
import { replayCalls } from "../../../src/app/policy-replay.js";
import { fingerprint } from "../../../src/canonical/index.js";
import { evidenceEntry, testKeys } from "../../fixtures/evidence.js";
import { exportOf } from "../../fixtures/evidence-export.js";
import { folder } from "../../fixtures/folder.js";
import { refundRule } from "../../fixtures/ledger.js";

const args = { order_id: "A-1", amount: 1500 };
const at = (minutes: number) => new Date(Date.UTC(2026, 2, 1, 12, minutes)).toISOString();

async function replay(lines: readonly unknown[], over = {}) {
  const place = await folder({ "calls.jsonl": lines.map((each) => JSON.stringify(each)).join("\n") });
  return await replayCalls(`${place}/calls.jsonl`, readPolicies(refundRule(over)));
}
const reasons = async (lines: readonly unknown[], over = {}) =>
  (await replay(lines, over)).verdicts.map(({ line, reason }) => `${line} ${reason}`);

describe("a replay of recorded calls", () => {
  const call = { type: "call", session: "s", tool: "issue_refund", args };
  const yes = { ...call, type: "confirmation" };

  it("says what each rule would have come to", async () => {
    const lines = [
      { ...call, at: at(0) },
      { ...yes, at: at(1) },
      { ...call, at: at(2), args: { ...args, amount: 7 } },
      { ...call, at: at(3) },
      { ...call, at: at(4) },
      { ...call, at: at(5), session: "other" },
      { ...yes, at: at(6) },
      { ...call, at: at(20) },
      { ...call, tool: "search" },
    ];
    expect(await reasons(lines)).toEqual([
      "1 no_match",
      "3 args_mismatch",
      "4 confirmed",
      "5 already_used",
      "6 no_match",
      "8 expired",
    ]);
    expect(await reasons(lines, { when: "amount < 100" })).toEqual(["3 args_mismatch"]);
    expect(await reasons(lines, { max_age: "30m" })).toContain("8 confirmed");
    expect(await replay(lines)).toMatchObject({
      calls: 7,
      confirmations: 2,
      other: 0,
      faults: [],
      withoutArguments: 0,
    });
  });

  it("reads what the evidence exports: the yes and the call, by their hash", async () => {
    const args_hash = fingerprint("issue_refund", args);
    const entry = { session: "s", tool: "issue_refund", args_hash, proposal: "p-1" };
    const lines: unknown[] = [
      { ...entry, type: "proposed", at: at(0) },
      { ...entry, type: "notice_sent", at: at(0) },
      { ...entry, type: "granted", at: at(1), words: "si" },
      { ...entry, type: "consumed", at: at(1) },
      { ...entry, type: "executed", at: at(1) },
      { ...entry, type: "consumed", at: at(2), args_hash: fingerprint("issue_refund", {}) },
    ];
    expect(await reasons(lines, { when: "amount > 1000" })).toEqual(["4 confirmed", "6 args_mismatch"]);
    expect(await replay(lines)).toMatchObject({ calls: 2, confirmations: 1, other: 3, withoutArguments: 2 });
    expect(await reasons(lines.with(3, { ...call, at: at(1) }))).toContain("4 confirmed");
  });

  it("reads an export of the evidence: skips what is no call, and tries conditions on the calls' own arguments", async () => {
    const gated = (id: string, type: string, detail: Record<string, string | boolean>) =>
      evidenceEntry(id, {
        type,
        detail,
        tool: "issue_refund",
        argsHash: fingerprint("issue_refund", args),
        at: Date.parse(at(0)),
      });
    const entries = [
      gated("e-1", "proposed", { notice: "?", args: JSON.stringify(args) }),
      gated("e-2", "granted", { words: "si" }),
      gated("e-3", "consumed", {}),
      gated("e-4", "executed", { result: "{}" }),
    ];
    const lines = exportOf(entries, testKeys(), { proposal: "p-1" }).map((each) => JSON.parse(each) as unknown);
    expect(await replay(lines, { when: "amount > 1000" })).toMatchObject({
      calls: 1,
      confirmations: 1,
      other: 6,
      faults: [],
      withoutArguments: 0,
      verdicts: [{ tool: "issue_refund", reason: "confirmed" }],
    });
    expect((await replay(lines, { when: "amount > 2000" })).verdicts).toEqual([]);
  });

  it("refuses a line of an app's own with a key that it does not know", async () => {
    const { faults, verdicts } = await replay([call, { ...call, arguments: args }, { ...yes, actorRole: "reviewer" }]);
    expect(faults.map(({ line, problem }) => `${line} ${problem}`)).toEqual([
      expect.stringMatching(/^2 .*arguments/),
      expect.stringMatching(/^3 .*actorRole/),
    ]);
    expect(verdicts).toHaveLength(1);
  });

  it("reads a session's timeline, without counting gated calls twice", async () => {
    const item = { session: "s", tool: "issue_refund", args_hash: "ab", kind: "call" };
    const lines = [
      { ...item, outcome: "ok", at: at(0) },
      { ...item, outcome: "waits", at: at(1) },
      { ...item, outcome: "executed", at: at(2) },
    ];
    expect(await reasons(lines)).toEqual(["1 no_match"]);
  });

  it("spends refs, and knows a reviewer from a user", async () => {
    const review = { kinds: ["human_review"], roles: ["reviewer"] };
    const reviewed = { ...yes, kind: "human_review", actor_role: "reviewer", ref: "a-1" };
    expect(await reasons([reviewed, call, reviewed, call], { accept: review })).toEqual([
      "2 confirmed",
      "4 already_used",
    ]);
    expect(await reasons([reviewed, call])).toEqual(["2 kind_not_accepted"]);
    const args_hash = fingerprint("issue_refund", args);
    const granted = {
      session: "s",
      tool: "issue_refund",
      args_hash,
      type: "granted",
      consent: "human_review",
      proposal: "apr-1",
    };
    expect(await reasons([granted, call], { accept: review })).toEqual(["2 confirmed"]);
  });

  it("names the lines that it cannot read, and goes on", async () => {
    const place = await folder({ "calls.jsonl": `{"tool": 7}\nnonsense\n\n${JSON.stringify(call)}\n` });
    const replayed = await replayCalls(`${place}/calls.jsonl`, readPolicies(refundRule()));
    expect(replayed.faults.map(({ line }) => line)).toEqual([1, 2]);
    expect(replayed.verdicts).toMatchObject([{ line: 4, reason: "no_match" }]);
  });
});
