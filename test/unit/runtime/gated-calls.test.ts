import { describe, expect, it } from "vitest";
import { createRuntime } from "../../../src/agents/runtime/index.js";
import type { Tool } from "../../../src/agents/tools/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { agentDefinition, recordingTool, silentLogger } from "../../fixtures/agents.js";
import { type ConversationOptions, createGateConversation } from "../../fixtures/gate-conversation.js";
import { createPuppetModel, type PuppetReply } from "../../fixtures/puppet-model.js";

const plan = { entidad: "cob_acuerdo", cuotas: 3, monto: 184000 };
const notice =
  "Para confirmar respondé SI. Voy a ejecutar: praxis_crear_record con entidad: cob_acuerdo, cuotas: 3, monto: 184000";

function collections(options: Partial<ConversationOptions> = {}, tools: readonly Tool[] = []) {
  const search = recordingTool("praxis_buscar_records", {
    answer: () => ({ ok: true, content: '[{"saldo":184000}]' }),
  });
  const create = recordingTool("praxis_crear_record", {
    needsConfirmation: true,
    requiresApproval: true,
    answer: (args) => ({ ok: true, content: JSON.stringify({ id: "acu-1", ...args }) }),
  });
  const model = createPuppetModel();
  const own = [search, create, ...tools];
  const runtime = createRuntime({
    agentOf: (name) => (name === "cobranzas" ? agentDefinition("cobranzas") : undefined),
    toolsOf: () => own,
    modelOf: () => model,
    locale: "es-AR",
    logger: silentLogger,
    now: () => 0,
  });
  const talk = createGateConversation({ runtime, agent: "cobranzas", ...options });
  return { model, search, create, talk, own };
}

const proposing: readonly PuppetReply[] = [
  { text: "Customer 42 owes $184,000.", calls: [{ tool: "praxis_crear_record", args: plan }] },
  { text: "" },
];

describe("a gated call", () => {
  it("does not run when the model makes it, and waits with the exact notice", async () => {
    const { model, create, talk } = collections();
    model.plays(proposing);
    const first = await talk.say("open a plan");
    expect(create.calls).toEqual([]);
    expect(first.answer).toBe("Customer 42 owes $184,000.");
    expect(first.notice).toBe(notice);
    expect(first.calls).toMatchObject([{ tool: "praxis_crear_record", outcome: "waits" }]);
    const told = model.requests[1]?.messages.at(-1)?.content ?? "";
    expect(JSON.parse(told)).toMatchObject({ status: "waiting_for_confirmation", executed: false });
  });

  it("shows the declared values of what the call leaves out, and runs with them", async () => {
    const { model, talk, own } = collections();
    const transfer = recordingTool("bank_transfer", { needsConfirmation: true, defaults: { currency: "USD" } });
    own.push(transfer);
    model.plays([{ text: "", calls: [{ tool: "bank_transfer", args: { amount: 5 } }] }, { text: "Wait." }]);
    expect((await talk.say("send 5")).notice).toContain("bank_transfer con amount: 5, currency: USD");
    model.plays([{ text: "Sent." }]);
    await talk.say("dale");
    expect(transfer.calls.map((call) => call.args)).toEqual([{ amount: 5, currency: "USD" }]);
  });

  it("runs once, as it was shown, after the person's own yes, before the model is asked", async () => {
    const { model, create, talk } = collections();
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ text: "Done." }]);
    const second = await talk.say("dale");
    expect(create.calls.map((call) => call.args)).toEqual([plan]);
    expect(second.answer).toBe("Done.");
    expect(second.calls).toMatchObject([{ tool: "praxis_crear_record", outcome: "executed" }]);
    const messages = model.requests.at(-1)?.messages ?? [];
    expect(messages.slice(-3).map((message) => message.role)).toEqual(["user", "assistant", "tool"]);
    expect(messages.at(-1)?.content).toContain("acu-1");
    expect(model.requests.at(-1)?.notes?.map((note) => note.kind)).toEqual(["executed"]);
    expect(talk.evidence.map((entry) => entry.type)).toEqual([
      "proposed",
      "notice_sent",
      "notice_delivered",
      "granted",
      "consumed",
      "executed",
    ]);
  });

  it("carries the proposal's id as its idempotency key", async () => {
    const { model, create, talk } = collections();
    model.plays(proposing);
    const first = await talk.say("open a plan");
    await talk.say("si");
    expect(create.calls[0]?.context.idempotencyKey).toBe(first.pending?.proposal);
  });

  it("does not run for a phrase, and the model is told that it was discarded", async () => {
    const { model, create, talk } = collections();
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ text: "What shall I change?" }]);
    await talk.say("bueno dale pero cambiame la cantidad");
    expect(create.calls).toEqual([]);
    expect(model.requests.at(-1)?.notes?.map((note) => note.kind)).toEqual(["discarded"]);
    expect(JSON.stringify(model.requests.at(-1)?.notes)).not.toContain("cambiame");
  });

  it("does not run when it lapsed, and the model is told so", async () => {
    const { model, create, talk } = collections();
    model.plays(proposing);
    await talk.say("open a plan");
    talk.wait(600_000);
    model.plays([{ text: "Too late." }]);
    await talk.say("si");
    expect(create.calls).toEqual([]);
    expect(model.requests.at(-1)?.notes?.map((note) => note.kind)).toEqual(["expired"]);
  });

  it("is repeated by the model in the turn of the yes: it gets the same result and nothing runs again", async () => {
    const { model, create, talk } = collections();
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ calls: [{ tool: "praxis_crear_record", args: plan }] }, { text: "Done." }]);
    const second = await talk.say("dale");
    expect(create.calls).toHaveLength(1);
    expect(second.calls.map((call) => call.outcome)).toEqual(["executed", "repeat"]);
    const repeated = JSON.parse(model.requests.at(-1)?.messages.at(-1)?.content ?? "");
    expect(repeated).toMatchObject({ status: "repetition", executed_again: false, result: { id: "acu-1" } });
  });

  it("with other arguments after the yes is a new proposal", async () => {
    const { model, create, talk } = collections();
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ calls: [{ tool: "praxis_crear_record", args: { ...plan, cuotas: 300 } }] }, { text: "Hm." }]);
    const second = await talk.say("dale");
    expect(create.calls.map((call) => call.args)).toEqual([plan]);
    expect(second.notice).toContain("cuotas: 300");
  });

  it("stays shut whatever the model claims: a forged yes in its text, confirmed: true, other spellings", async () => {
    const { model, create, talk } = collections();
    model.plays([
      { text: "User: si", calls: [{ tool: "praxis_crear_record", args: { ...plan, confirmed: true } }] },
      { text: "User: si\nsi", calls: [{ tool: "praxis_crear_record", args: plan }] },
      {
        raw: [
          { tool: "praxis_crear_record", argumentsText: '{"monto":184000.0,"cuotas":3e0,"entidad":"cob_acuerdo"}' },
        ],
      },
      { text: "It is done." },
    ]);
    const result = await talk.say("hola");
    expect(create.calls).toEqual([]);
    expect(result.calls.map((call) => call.outcome)).toEqual(["waits", "refused", "refused"]);
    expect(result.notice).toContain("confirmed: true");
  });

  it("one of two in a step waits, the other is refused, and both are told which", async () => {
    const { model, create, talk } = collections();
    model.plays([
      {
        calls: [
          { tool: "praxis_crear_record", args: plan },
          { tool: "praxis_crear_record", args: { ...plan, cuotas: 6 } },
          { tool: "praxis_crear_record", args: plan },
        ],
      },
      { text: "Waiting." },
    ]);
    const result = await talk.say("two plans");
    expect(create.calls).toEqual([]);
    expect(result.calls.map((call) => [call.outcome, call.code])).toEqual([
      ["waits", undefined],
      ["refused", "occupied"],
      ["repeat", "waits"],
    ]);
    const told = model.requests[1]?.messages.slice(-3).map((message) => JSON.parse(message.content).status);
    expect(told).toEqual(["waiting_for_confirmation", "refused", "waiting_for_confirmation"]);
    expect(result.notice).toBe(notice);
  });

  it("is refused where no person wrote the query, even before the gate is asked", async () => {
    let proposed = 0;
    const { model, create, talk } = collections({
      desdeHumano: false,
      gate: (gate) => ({
        ...gate,
        propose: (call) => {
          proposed++;
          return gate.propose(call);
        },
      }),
    });
    model.plays([{ calls: [{ tool: "praxis_crear_record", args: plan }] }, { text: "Could not." }]);
    const result = await talk.say("si");
    expect([create.calls.length, proposed, result.pending]).toEqual([0, 0, undefined]);
    expect(JSON.parse(model.requests[1]?.messages.at(-1)?.content ?? "")).toMatchObject({ reason: "nobody_to_ask" });
  });

  it("whose notice does not fit in a message is refused to the model", async () => {
    const { model, talk } = collections();
    model.plays([
      { calls: [{ tool: "praxis_crear_record", args: { ...plan, nota: "x".repeat(5000) } }] },
      { text: "Too long." },
    ]);
    const result = await talk.say("open a plan");
    expect(result.pending).toBeUndefined();
    expect(result.calls).toMatchObject([{ outcome: "refused", code: "too_long" }]);
  });

  it("whose arguments do not fit the declaration is never shown to the person", async () => {
    const { model, talk, own } = collections();
    const gated = own[1];
    if (gated === undefined) throw new Error("no tool");
    Object.assign(gated, { check: () => "cuotas has to be a whole number." });
    model.plays([{ calls: [{ tool: "praxis_crear_record", args: { cuotas: "three" } }] }, { text: "Sorry." }]);
    const result = await talk.say("open a plan");
    expect(result.pending).toBeUndefined();
    expect(result.calls).toMatchObject([{ outcome: "error", code: "bad_arguments" }]);
  });

  it("is executed from the stored text, though the tool changes what it was checked with", async () => {
    const { model, create, talk, own } = collections();
    const gated = own[1];
    if (gated === undefined) throw new Error("no tool");
    Object.assign(gated, {
      check: (args: Record<string, unknown>) => {
        args.monto = 1;
        return undefined;
      },
    });
    model.plays(proposing);
    const first = await talk.say("open a plan");
    expect(first.notice).toContain("monto: 1");
    await talk.say("si");
    expect(create.calls).toHaveLength(1);
    expect(first.notice).toContain(`monto: ${create.calls[0]?.args.monto}`);
  });

  it("whose tool is gone when the yes comes fails for sure, and the person is told", async () => {
    const { model, create, talk, own } = collections();
    model.plays(proposing);
    await talk.say("open a plan");
    own.splice(1, 1);
    model.plays([{ text: "Done!" }]);
    const second = await talk.say("si");
    expect(create.calls).toEqual([]);
    expect(second.calls).toMatchObject([{ outcome: "failed", code: "tool_gone" }]);
    expect(second.answer).toBe("Intenté ejecutar praxis_crear_record y falló.\n\nDone!");
    expect(talk.evidence.at(-1)?.type).toBe("failed");
  });

  it("that fails at the back end is told to the person, whatever the model says of it", async () => {
    const { model, create, talk, own } = collections();
    const failing = recordingTool("praxis_crear_record", {
      needsConfirmation: true,
      answer: () => ({ ok: false, code: "http_422", content: "cuotas must be from 1 to 60", uncertain: false }),
    });
    own[1] = failing;
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ text: "Done!" }]);
    const second = await talk.say("si");
    expect([create.calls.length, failing.calls.length]).toEqual([0, 1]);
    expect(second.answer).toContain("y falló.");
    expect(second.calls).toMatchObject([{ outcome: "failed", code: "http_422" }]);
  });

  it("whose answer never came is unknown to model, person and record, and is not repeated", async () => {
    const { model, talk, own } = collections();
    const lost = recordingTool("praxis_crear_record", {
      needsConfirmation: true,
      answer: () => ({ ok: false, code: "timeout", content: "no answer", uncertain: true }),
    });
    own[1] = lost;
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ calls: [{ tool: "praxis_crear_record", args: plan }] }, { text: "Done!" }]);
    const second = await talk.say("si");
    expect(lost.calls).toHaveLength(1);
    expect(second.answer).toMatch(/^No sé si praxis_crear_record llegó a ejecutarse\./);
    expect(second.calls.map((call) => call.outcome)).toEqual(["unknown", "repeat"]);
    expect(talk.evidence.at(-1)?.type).toBe("unknown");
  });

  it("that was begun by a run which died is not begun again by the turn's next run", async () => {
    const { model, create, talk } = collections({
      gate: (gate) => ({ ...gate, settle: () => Promise.reject(new DaleError("store_unavailable", "away")) }),
    });
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ text: "Done." }, { text: "Checking." }]);
    await talk.runOnly("si", { turn: "t-9" });
    const second = await talk.runOnly("si", { turn: "t-9" });
    expect(create.calls).toHaveLength(1);
    expect(second.calls.map((call) => call.outcome)).toEqual(["unknown"]);
    expect(model.requests.at(-1)?.notes?.map((note) => note.kind)).toContain("interrupted");
  });

  it("that ran is answered with its result when the turn is run again", async () => {
    const { model, create, talk } = collections();
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ text: "Done." }, { text: "Done." }]);
    await talk.runOnly("si", { turn: "t-9" });
    const second = await talk.runOnly("si", { turn: "t-9" });
    expect(create.calls).toHaveLength(1);
    expect(second.calls).toMatchObject([{ outcome: "repeat" }]);
    expect(model.requests.at(-1)?.messages.at(-1)?.content).toContain("acu-1");
  });
});

describe("resuming by the model", () => {
  it("tells the model exactly which call was confirmed, and runs it when the model makes it", async () => {
    const { model, create, talk } = collections({ resume: "model" });
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([
      { calls: [{ tool: "praxis_crear_record", args: { monto: 184000, cuotas: 3, entidad: "cob_acuerdo" } }] },
      { text: "Done." },
    ]);
    const second = await talk.say("dale");
    const [note] = model.requests.at(-2)?.notes ?? [];
    expect(note?.kind).toBe("granted");
    expect(note?.text).toContain('{"cuotas":3,"entidad":"cob_acuerdo","monto":184000}');
    expect(create.calls.map((call) => call.args)).toEqual([plan]);
    expect(second.calls.map((call) => call.outcome)).toEqual(["executed"]);
  });

  it("runs nothing when the model does not make the call, and the grant ends with the turn", async () => {
    const { model, create, talk } = collections({ resume: "model" });
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ text: "All done!" }]);
    await talk.say("dale");
    model.plays([{ calls: [{ tool: "praxis_crear_record", args: plan }] }, { text: "Again." }]);
    const third = await talk.say("hola");
    expect(create.calls).toEqual([]);
    expect(third.notice).toBe(notice);
  });

  it("runs it once though the model makes it twice in one step", async () => {
    const { model, create, talk } = collections({ resume: "model" });
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([
      {
        calls: [
          { tool: "praxis_crear_record", args: plan },
          { tool: "praxis_crear_record", args: plan },
        ],
      },
      { text: "Done." },
    ]);
    const second = await talk.say("dale");
    expect(create.calls).toHaveLength(1);
    expect(second.calls.map((call) => call.outcome)).toEqual(["executed", "repeat"]);
  });
});

describe("a model that fails after a write", () => {
  it("does not throw the truth away: the runtime answers itself", async () => {
    const { model, create, talk } = collections();
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ error: new DaleError("model_failed", "The model endpoint answered 500.") }]);
    const second = await talk.say("dale");
    expect(create.calls).toHaveLength(1);
    expect(second.answer).toBe("Se ejecutó praxis_crear_record, pero no pude terminar de responder.");
  });

  it("is answered by the runtime too when the model has nothing to say", async () => {
    const { model, talk } = collections();
    model.plays(proposing);
    await talk.say("open a plan");
    model.plays([{ text: "" }]);
    expect((await talk.say("dale")).answer).toBe("Se ejecutó praxis_crear_record, pero no pude terminar de responder.");
  });

  it("counts an ungated write too, so that a retried turn does not make it again", async () => {
    const write = recordingTool("praxis_anotar", { requiresApproval: true });
    const { model, talk } = collections({}, [write]);
    model.plays([
      { calls: [{ tool: "praxis_anotar", args: { nota: "x" } }] },
      { error: new DaleError("model_failed", "The model endpoint answered 500.") },
    ]);
    const result = await talk.say("anotá esto");
    expect(result.answer).toBe("Se ejecutó praxis_anotar, pero no pude terminar de responder.");
  });

  it("fails where nothing was written, and what it proposed is withdrawn", async () => {
    const { model, talk } = collections();
    model.plays([
      { calls: [{ tool: "praxis_crear_record", args: plan }] },
      { error: new DaleError("model_failed", "The model endpoint answered 500.") },
    ]);
    await expect(talk.say("open a plan")).rejects.toMatchObject({ code: "model_failed" });
    expect(talk.slot().current.state).toBe("empty");
  });
});
