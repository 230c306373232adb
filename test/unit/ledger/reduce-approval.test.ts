import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Approval, type ApprovalEvent, reduceApproval, requestEvidence } from "../../../src/ledger/index.js";
import { consume, decide, minute, parkedApproval, run, settle } from "../../fixtures/approvals.js";

function applied(events: readonly ApprovalEvent[], start: Approval = parkedApproval("apr-1")) {
  const outcomes: string[] = [];
  const evidence: string[] = [];
  let approval = start;
  for (const event of events) {
    const transition = reduceApproval(approval, event);
    approval = transition.approval;
    outcomes.push(transition.outcome);
    evidence.push(...transition.evidence.map(({ type }) => type));
  }
  return { approval, outcomes, evidence, state: approval.current.state };
}

describe("an approval", () => {
  it("is decided once: a second decision is too late", () => {
    const { outcomes, approval } = applied([decide("approved"), decide("rejected", 2_001, "ben")]);
    expect(outcomes).toEqual(["done", "stale"]);
    expect(approval.current).toEqual({
      state: "approved",
      decision: { id: "apr-1", reviewer: "ana", comment: "checked", at: 2_000 },
    });
  });

  it("cannot be decided after its time: whoever comes then finds it lapsed", () => {
    expect(applied([decide("approved", 1_000 + minute)])).toMatchObject({
      outcomes: ["stale"],
      state: "expired",
      evidence: ["expired"],
    });
    expect(applied([decide("approved", 999 + minute)])).toMatchObject({ outcomes: ["done"], state: "approved" });
  });

  it("lapses in its time, or when whoever asked does not wait any more, unless it was decided", () => {
    const expire = (withdrawn: boolean, at: number) => ({ type: "expire", withdrawn, at }) as const;
    expect(applied([expire(false, 5_000)]).outcomes).toEqual(["stale"]);
    expect(applied([expire(false, 1_000 + minute)]).state).toBe("expired");
    expect(applied([expire(true, 5_000), decide("approved")])).toMatchObject({
      state: "expired",
      outcomes: ["done", "stale"],
    });
    expect(applied([decide("rejected"), expire(true, 5_000)])).toMatchObject({ state: "rejected" });
  });

  it("lets its call run once, after a yes alone", () => {
    expect(applied([consume(1)]).outcomes).toEqual(["stale"]);
    expect(applied([decide("rejected"), consume(1)]).outcomes).toEqual(["done", "stale"]);
    expect(applied([decide("approved"), consume(1), consume(1), settle(1), consume(2)])).toMatchObject({
      outcomes: ["done", "run", "running", "done", "stale"],
      state: "settled",
      evidence: ["granted", "consumed", "executed"],
    });
  });

  it("of an app is never used up here: the app makes its call itself", () => {
    const own = parkedApproval("apr-1", { origin: { kind: "app" } });
    expect(applied([decide("approved"), consume(1)], own)).toMatchObject({
      outcomes: ["done", "stale"],
      state: "approved",
    });
    expect(applied([decide("approved"), { type: "abandon", at: 9 }], own).state).toBe("approved");
  });

  it("whose run was cut off is unknown, never repeated, and may be told of late", () => {
    const cut = applied([decide("approved"), consume(1), consume(2)]);
    expect(cut).toMatchObject({ outcomes: ["done", "run", "done"], evidence: ["granted", "consumed", "unknown"] });
    expect(cut.approval.current).toMatchObject({ state: "settled", result: { status: "unknown" }, run: run(1) });
    expect(applied([consume(3), settle(2), settle(1)], cut.approval)).toMatchObject({
      outcomes: ["stale", "stale", "done"],
      evidence: ["executed"],
    });
  });

  it("is not taken from the later run by an earlier one", () => {
    expect(applied([decide("approved"), consume(2), consume(1)]).outcomes).toEqual(["done", "run", "running"]);
    expect(applied([decide("approved"), consume(2), settle(1)]).outcomes).toEqual(["done", "run", "stale"]);
  });

  it("that is given up before it was used can never run", () => {
    const given = applied([decide("approved"), { type: "abandon", at: 9_000 }, consume(9)]);
    expect(given).toMatchObject({ outcomes: ["done", "done", "stale"], evidence: ["granted", "failed"] });
    expect(applied([decide("approved"), consume(1), { type: "abandon", at: 9_000 }]).approval.current).toMatchObject({
      result: { status: "unknown" },
    });
    expect(applied([{ type: "abandon", at: 9_000 }]).outcomes).toEqual(["stale"]);
  });

  it("is recorded when it is requested, with the call, and what the reviewers and the person are told of it", () => {
    const consent = { proposal: "p-1", at: 900 };
    const gated = parkedApproval("apr-1");
    const origin = { ...(gated.origin as Extract<Approval["origin"], { kind: "turn" }>), consent };
    expect(requestEvidence({ ...gated, origin }, "what they see")).toEqual({
      type: "proposed",
      at: 1_000,
      turn: "t-1",
      detail: {
        approval: true,
        shows: "what they see",
        args: gated.args,
        expiresAt: gated.expiresAt,
        told: gated.shown,
        confirmed: "p-1",
      },
    });
  });

  it("lets its call run at most once, and after a yes, whatever happens in whatever order", () => {
    const at = fc.integer({ min: 1_000, max: 1_000 + 2 * minute });
    const fence = fc.integer({ min: 1, max: 4 });
    const event: fc.Arbitrary<ApprovalEvent> = fc.oneof(
      fc
        .tuple(fc.constantFrom("approved" as const, "rejected" as const), at)
        .map(([outcome, when]) => decide(outcome, when)),
      fc.tuple(fence, at).map(([f, when]) => consume(f, when)),
      fc
        .tuple(fence, fc.constantFrom("executed" as const, "failed" as const, "unknown" as const), at)
        .map(([f, status, when]) => settle(f, status, when)),
      fc.tuple(fc.boolean(), at).map(([withdrawn, when]): ApprovalEvent => ({ type: "expire", withdrawn, at: when })),
      at.map((when): ApprovalEvent => ({ type: "abandon", at: when })),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const { outcomes, evidence } = applied(events);
        expect(outcomes.filter((outcome) => outcome === "run").length).toBeLessThanOrEqual(1);
        const ran = evidence.indexOf("consumed");
        if (ran >= 0) expect(evidence.slice(0, ran)).toEqual(["granted"]);
        if (evidence.includes("executed")) expect(ran).toBeGreaterThanOrEqual(0);
        expect(evidence.filter((type) => type === "granted" || type === "discarded").length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
