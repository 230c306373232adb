import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunRequest } from "../../../src/agents/runtime/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { type ApprovalRig, approvalRig, session } from "../../fixtures/approval-desk.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";

let redis: Redis;
let prefix: string;
let rig: ApprovalRig;
beforeEach(async () => {
  redis = testRedis();
  prefix = testPrefix();
  rig = await approvalRig(redis, prefix);
});
afterEach(() => redis.disconnect());

const args = { order: "A-1", amount: 5000 };
const shown = "erp_write con order: A-1, amount: 5000";
const asked = `Esto lo tiene que aprobar otra persona, y todavía no se hizo: ${shown}. Te aviso cuando lo decida.`;
const texts = () => rig.sent.map(({ text }) => text);
const results = () =>
  rig.model.requests.flatMap(({ messages }) =>
    messages.flatMap((each) => (each.role === "tool" ? [each.content] : [])),
  );
const waiting = () => rig.room.list("waiting", 10);

function writes(tool = "erp_write"): void {
  rig.model.plays([{ text: "One moment.", calls: [{ tool, args }] }, { text: "I asked for it." }]);
}

describe("a call that a rule parks", () => {
  it("does not run: the person is told, and a reviewer sees exactly what will", async () => {
    writes();
    await rig.says("refund A-1");
    expect(rig.tool.calls).toEqual([]);
    expect(texts()).toEqual([`One moment.\n\nI asked for it.\n\n${asked}`]);
    expect(results().at(-1)).toContain('"waiting_for_approval"');
    expect(await waiting()).toMatchObject([
      { session, agent: "cobranzas", tool: "erp_write", args: '{"amount":5000,"order":"A-1"}', shown },
    ]);
  });

  it("runs once after a reviewer's yes, exactly as it was kept, and the person is told", async () => {
    writes();
    await rig.says("refund A-1");
    const answer = await rig.decides("approved");
    await rig.worker.process(answer);
    await rig.worker.process({ ...answer, attempt: 2, fence: answer.fence + 1 });
    expect(rig.tool.calls.map((call) => call.args)).toEqual([args]);
    expect(rig.tool.calls[0]?.context.idempotencyKey).toMatch(/^apr-/);
    expect(texts().slice(1)).toEqual([`Se aprobó y quedó hecho: ${shown}.`]);
    expect(await rig.evidence()).toEqual([
      "approval proposed",
      "approval granted",
      "approval consumed",
      "approval executed",
    ]);
    expect(await waiting()).toEqual([]);
    expect(await rig.store.openOf(session)).toEqual([]);
  });

  it("is remembered with its result: the model knows what became of it", async () => {
    writes();
    await rig.says("refund A-1");
    await rig.worker.process(await rig.decides("approved"));
    rig.model.plays([{ text: "Yes, it is." }]);
    await rig.says("is it done?");
    const seen = rig.model.requests.at(-1)?.messages ?? [];
    expect(seen.at(-2)).toEqual({ role: "assistant", content: `Se aprobó y quedó hecho: ${shown}.` });
    expect(seen.at(-3)).toMatchObject({ role: "tool", tool: "erp_write", content: '{"amount":5000,"order":"A-1"}' });
  });

  it("does not run after a no, and the person is told", async () => {
    writes();
    await rig.says("refund A-1");
    await rig.worker.process(await rig.decides("rejected"));
    expect(rig.tool.calls).toEqual([]);
    expect(texts().at(-1)).toBe(`No se aprobó, así que no se hizo: ${shown}.`);
    expect(await rig.evidence()).toEqual(["approval proposed", "approval discarded"]);
  });

  it("lapses when nobody decides in a day, and the person is told", async () => {
    writes();
    await rig.says("refund A-1");
    rig.pass(24 * 3_600_000 - 60_000);
    rig.room.sweep()();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(rig.handed).toEqual([]);
    rig.pass(120_000);
    const stop = rig.room.sweep();
    await expect.poll(() => rig.handed.length).toBe(1);
    stop();
    await rig.worker.process({ ...(rig.handed[0] as (typeof rig.handed)[number]), fence: 50 });
    expect(texts().at(-1)).toBe(`Nadie lo aprobó a tiempo, así que no se hizo: ${shown}.`);
    expect(await rig.room.decide((await rig.room.list("over", 1))[0]?.id ?? "", decision)).toMatchObject({
      result: "conflict",
    });
    expect(rig.tool.calls).toEqual([]);
  });

  it("is decided once", async () => {
    writes();
    await rig.says("refund A-1");
    const id = (await waiting())[0]?.id ?? "";
    const decided = await Promise.all(
      (["approved", "rejected", "approved"] as const).map((outcome) => rig.room.decide(id, { ...decision, outcome })),
    );
    expect(decided.filter((each) => each?.result === "decided")).toHaveLength(1);
    expect(await rig.room.decide("apr-404", decision)).toBeUndefined();
    expect(rig.handed).toHaveLength(1);
  });

  it("is not asked for again while it waits, nor by a retried turn", async () => {
    writes();
    const first = rig.message("refund A-1");
    await rig.worker.process(first);
    await rig.worker.process({ ...first, attempt: 2, fence: 90 });
    writes();
    await rig.worker.process(rig.message("refund it, please", { fence: 91 }));
    expect(results().at(-1)).toContain("waits for a reviewer already");
    expect(await waiting()).toHaveLength(1);
    expect(texts()[1]).not.toContain("aprobar otra persona");
  });

  it("is not left with the reviewers by a turn that failed: nobody was told of it", async () => {
    rig.model.plays([
      { text: "", calls: [{ tool: "erp_write", args }] },
      { error: new DaleError("model_refused", "no key") },
    ]);
    await rig.worker.process(rig.message("refund A-1", { lastAttempt: false }));
    expect(texts().at(-1)).toContain("No pude procesar tu mensaje");
    expect(await waiting()).toEqual([]);
  });

  it("is told of even if the model says nothing", async () => {
    rig.model.plays([{ calls: [{ tool: "erp_write", args }] }, { text: "" }]);
    await rig.says("refund A-1");
    expect(texts()).toEqual([asked]);
  });

  it("cannot wait where it depends on credentials of one run", async () => {
    const request: RunRequest = {
      query: "refund A-1",
      session,
      turn: "t-x",
      history: [],
      connections: { erp_main: { token: "of-this-run" } },
      takesPropuestas: false,
      signal: new AbortController().signal,
      gate: {
        resume: "runtime",
        propose: async () => ({ kind: "refused", reason: "nobody" }),
        consume: async () => ({ kind: "refused" }),
        settle: async () => {},
      },
    };
    writes();
    const result = await rig.runtime.run("cobranzas", request);
    expect(result.parked).toEqual([]);
    expect(results().at(-1)).toContain("cannot wait for a reviewer");
  });

  it("is one of five at most of one turn", async () => {
    const calls = Array.from({ length: 7 }, (_, n) => ({ tool: "erp_write", args: { ...args, amount: n } }));
    rig.model.plays([{ calls }, { text: "Asked." }]);
    await rig.says("refund all");
    expect(await waiting()).toHaveLength(5);
    expect(results().filter((each) => each.includes("cannot wait"))).toHaveLength(2);
  });
});

const decision = { outcome: "approved", reviewer: "ana", comment: "" } as const;

describe("an approved call whose turn does not go smoothly", () => {
  beforeEach(async () => {
    writes();
    await rig.says("refund A-1");
  });

  it("is unknown after a crash in its middle: never repeated, and told", async () => {
    const answer = await rig.decides("approved");
    const id = (await rig.room.list("over", 1))[0]?.id ?? "";
    await rig.store.apply(id, { type: "consume", run: { turn: answer.id, fence: answer.fence }, at: rig.now() });
    await rig.worker.process({ ...answer, attempt: 2, fence: answer.fence + 1 });
    expect(rig.tool.calls).toEqual([]);
    expect(texts().at(-1)).toContain("no sé si llegó a hacerse");
    expect((await rig.evidence()).at(-1)).toBe("approval unknown");
  });

  it("is not made by a run that a later one has overtaken", async () => {
    const answer = await rig.decides("approved");
    const id = (await rig.room.list("over", 1))[0]?.id ?? "";
    await rig.store.apply(id, { type: "consume", run: { turn: answer.id, fence: answer.fence + 5 }, at: rig.now() });
    await expect(rig.worker.process(answer)).rejects.toMatchObject({ code: "turn_aborted" });
    expect(rig.tool.calls).toEqual([]);
  });

  it("is told with its result by the run after the one that made it", async () => {
    const answer = await rig.decides("approved");
    const id = (await rig.room.list("over", 1))[0]?.id ?? "";
    const run = { turn: answer.id, fence: answer.fence };
    await rig.store.apply(id, { type: "consume", run, at: rig.now() });
    await rig.store.apply(id, { type: "settle", run, result: { status: "executed", content: "{}" }, at: rig.now() });
    await rig.worker.process({ ...answer, attempt: 2, fence: answer.fence + 1 });
    expect(rig.tool.calls).toEqual([]);
    expect(texts().at(-1)).toBe(`Se aprobó y quedó hecho: ${shown}.`);
  });

  it("never runs once its turn is given up, and the person is told", async () => {
    const answer = await rig.decides("approved");
    await rig.worker.dead(answer, "stalled");
    expect(texts().at(-1)).toBe(`Se aprobó, pero falló y no quedó hecho: ${shown}.`);
    await rig.worker.process({ ...answer, id: "t-again", attempt: 2, fence: 99 });
    expect(rig.tool.calls).toEqual([]);
  });

  it("is told as failed when its tool fails, and as unknown when its answer never came", async () => {
    const failing = await approvalRig(redis, testPrefix());
    for (const [uncertain, word] of [
      [false, "falló y no quedó hecho"],
      [true, "no sé si llegó a hacerse"],
    ] as const) {
      Object.assign(failing.tool, {
        call: async () => ({ ok: false, code: "http_500", content: "broken", uncertain }),
      });
      failing.model.plays([{ calls: [{ tool: "erp_write", args: { ...args, uncertain } }] }, { text: "Asked." }]);
      await failing.says("refund A-1");
      await failing.worker.process(await failing.decides("approved"));
      expect(failing.sent.at(-1)?.text).toContain(word);
    }
  });

  it("does not run when the rules no longer take the approval", async () => {
    const answer = await rig.decides("approved");
    rig.pass(61 * 60_000);
    await rig.worker.process(answer);
    expect(rig.tool.calls).toEqual([]);
    expect(texts().at(-1)).toBe(`Se aprobó, pero falló y no quedó hecho: ${shown}.`);
    expect(await waiting()).toEqual([]);
  });

  it("does not run when its approval is not known any more", async () => {
    const answer = await rig.decides("approved");
    await redis.del(`${prefix}:approval:${(await rig.room.list("over", 1))[0]?.id}`);
    await rig.worker.process(answer);
    expect(rig.tool.calls).toEqual([]);
    expect(rig.sent).toHaveLength(1);
  });

  it("is handed over later when the queue was away at the decision", async () => {
    await rig.decides("approved");
    rig.handed.length = 0;
    await redis.sadd(`${prefix}:approvals:answered`, (await rig.room.list("over", 1))[0]?.id ?? "");
    const stop = rig.room.sweep();
    await expect.poll(() => rig.handed.length).toBe(1);
    await expect.poll(() => rig.store.answered(10)).toEqual([]);
    stop();
  });
});

describe("a gated call that a rule parks too", () => {
  const gatedShown = "erp_gated con amount: 5000, order: A-1";

  it("needs the person's yes first, then the reviewer's, and runs once", async () => {
    writes("erp_gated");
    await rig.says("refund A-1");
    expect(texts().at(-1)).toContain("Voy a ejecutar: erp_gated con order: A-1, amount: 5000");
    expect(await waiting()).toEqual([]);
    rig.model.plays([{ text: "They have to look at it." }]);
    await rig.says("dale");
    expect(rig.gated.calls).toEqual([]);
    expect(texts().at(-1)).toBe(
      `They have to look at it.\n\nEsto lo tiene que aprobar otra persona, y todavía no se hizo: ${gatedShown}. Te aviso cuando lo decida.`,
    );
    const [request] = await waiting();
    expect(request?.origin).toMatchObject({ kind: "turn", consent: { proposal: expect.any(String) } });
    await rig.worker.process(await rig.decides("approved"));
    expect(rig.gated.calls.map((call) => call.args)).toEqual([args]);
    expect(texts().at(-1)).toBe(`Se aprobó y quedó hecho: ${gatedShown}.`);
    expect((await rig.evidence()).slice(-7)).toEqual([
      "granted",
      "consumed",
      `parked for ${request?.id}`,
      "approval proposed",
      "approval granted",
      "approval consumed",
      "approval executed",
    ]);
  });

  it("is parked again by the run after the one that parked it and died", async () => {
    writes("erp_gated");
    await rig.says("refund A-1");
    const yes = rig.message("dale");
    rig.model.plays([{ error: new DaleError("model_failed", "away") }]);
    await expect(rig.worker.process(yes)).rejects.toMatchObject({ code: "model_failed" });
    expect(await waiting()).toEqual([]);
    rig.model.plays([{ text: "They have to look at it." }]);
    await rig.worker.process({ ...yes, attempt: 2, fence: 70 });
    expect(await waiting()).toHaveLength(1);
    expect(rig.gated.calls).toEqual([]);
    await rig.worker.process(await rig.decides("approved"));
    expect(rig.gated.calls).toHaveLength(1);
  });

  it("with rules for both is met by both, and by neither alone", async () => {
    const both = await approvalRig(redis, testPrefix(), {
      accept: { kinds: ["human_review", "confirmation"], roles: ["reviewer", "user"] },
    });
    both.model.plays([{ calls: [{ tool: "erp_gated", args }] }, { text: "Asked." }]);
    await both.says("refund A-1");
    both.model.plays([{ text: "Done." }]);
    await both.says("dale");
    expect(both.gated.calls).toHaveLength(1);
    expect(await both.room.list("waiting", 10)).toEqual([]);
  });
});
