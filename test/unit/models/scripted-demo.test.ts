import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { type ChatModel, createScriptedModel, loadScript } from "../../../src/agents/models/index.js";
import { createRuntime } from "../../../src/agents/runtime/index.js";
import { agentDefinition, recordingTool, silentLogger } from "../../fixtures/agents.js";
import { createGateConversation } from "../../fixtures/gate-conversation.js";

const file = fileURLToPath(new URL("../../../examples/cobranzas/agents/cobranzas.script.yaml", import.meta.url));
let model: ChatModel;
beforeAll(async () => {
  const script = await loadScript(file);
  if (!script.ok) throw new Error(JSON.stringify(script.problems, undefined, 1));
  model = createScriptedModel(script.value, { name: "scripted" });
});

const debts: Readonly<Record<string, number>> = { "7": 52300, "15": 0, "42": 184000 };

function demo() {
  const search = recordingTool("praxis_buscar_records", {
    answer: ({ cliente }) => {
      const saldo = debts[String(cliente)];
      return {
        ok: true,
        content: JSON.stringify({ rows: saldo === undefined ? [] : [{ cliente: Number(cliente), saldo }] }),
      };
    },
  });
  const create = recordingTool("praxis_crear_record", {
    needsConfirmation: true,
    requiresApproval: true,
    answer: (args) => ({ ok: true, content: JSON.stringify({ id: "acu-1", ...args }) }),
  });
  const runtime = createRuntime({
    agentOf: () => agentDefinition("cobranzas"),
    toolsOf: () => [search, create],
    modelOf: () => model,
    locale: "es-AR",
    logger: silentLogger,
    now: () => 0,
  });
  return { talk: createGateConversation({ runtime, agent: "cobranzas" }), search, create };
}

const notice = (cuotas: number, monto: number) =>
  `Para confirmar respondé SI. Voy a ejecutar: praxis_crear_record con entidad: cob_acuerdo, cuotas: ${cuotas}, monto: ${monto}`;

describe("the demo's conversation", () => {
  it("goes as the story tells it, in English", async () => {
    const { talk, search, create } = demo();
    const first = await talk.say("how much does customer 42 owe, and open a payment plan for 3 instalments");
    expect(search.calls.map((call) => call.args)).toEqual([{ entidad: "cob_deuda", cliente: "42" }]);
    expect([first.answer, first.notice]).toEqual(["Customer 42 owes $184,000.", notice(3, 184000)]);
    expect(create.calls).toEqual([]);
    const second = await talk.say("dale");
    expect(second.answer).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(create.calls.map((call) => call.args)).toEqual([{ entidad: "cob_acuerdo", cuotas: 3, monto: 184000 }]);
  });

  it("goes the same in Spanish", async () => {
    const { talk, create } = demo();
    const first = await talk.say("¿Cuánto debe el cliente 42? Abrí un plan de pagos en 3 cuotas");
    expect([first.answer, first.notice]).toEqual(["El cliente 42 debe $184.000.", notice(3, 184000)]);
    expect((await talk.say("sí")).answer).toBe("Listo: plan registrado, 3 cuotas de $61.333.");
    expect(create.calls).toHaveLength(1);
  });

  it("drops the plan when the person wants it otherwise, and asks how", async () => {
    const { talk, create } = demo();
    await talk.say("how much does customer 42 owe, and open a payment plan for 3 instalments");
    const second = await talk.say("bueno dale pero cambiame la cantidad");
    expect(second.answer).toBe("Dejé ese plan sin efecto, no se registró nada. ¿En cuántas cuotas lo querés?");
    expect(second.pending).toBeUndefined();
    const third = await talk.say("6");
    expect(third.notice).toBe(notice(6, 184000));
    expect(third.answer).toBe("Cliente 42, $184.000 en 6 cuotas: $30.666 cada una.");
    expect((await talk.say("Listo")).answer).toBe("Listo: plan registrado, 6 cuotas de $30.666.");
    expect(create.calls).toHaveLength(1);
  });

  it("takes another number of instalments, again and again", async () => {
    const { talk, create } = demo();
    await talk.say("abrile un plan en tres cuotas al cliente 7");
    expect((await talk.say("y en 6 cuotas?")).notice).toBe(notice(6, 52300));
    expect((await talk.say("mejor 12")).notice).toBe(notice(12, 52300));
    expect((await talk.say("make it 4")).answer).toBe("Customer 7, $52,300 in 4 instalments: $13,075 each.");
    expect((await talk.say("ok")).answer).toBe("Done — plan recorded, 4 instalments of $13,075.");
    expect(create.calls.map((call) => call.args.cuotas)).toEqual([4]);
  });

  it("takes a no for a no", async () => {
    const { talk, create } = demo();
    await talk.say("a plan in 3 instalments for customer 42");
    expect((await talk.say("no, thanks")).answer).toBe("All right, nothing was recorded.");
    expect((await talk.say("si")).answer).toContain("nothing waiting");
    expect(create.calls).toEqual([]);
  });

  it.each([
    ["cuánto debe el 7?", "El cliente 7 debe $52.300."],
    ["what about customer #7", "Customer 7 owes $52,300."],
    ["deuda del cliente 15", "El cliente 15 no debe nada."],
    ["how much does customer 99 owe", "I cannot find customer 99. In this demo there are 7, 15 and 42."],
    ["42", "El cliente 42 debe $184.000."],
    ["abrí un plan para el cliente 42", "El cliente 42 debe $184.000. ¿En cuántas cuotas lo querés?"],
    ["3 cuotas por favor", "¿De qué cliente? En esta demo están el 7, el 15 y el 42."],
    ["how much does she owe?", "Of which customer? In this demo there are 7, 15 and 42."],
    [
      "customer 42 in 90 instalments",
      "Customer 42 owes $184,000. A plan can have from 1 to 60 instalments: how many instalments do you want?",
    ],
    ["gracias!", "De nada. Acá estoy si hace falta."],
    ["dale", "No hay nada esperando tu confirmación. Preguntame cuánto debe un cliente, por ejemplo el 42."],
  ])("answers “%s”", async (text, answer) => {
    const { talk, create } = demo();
    const result = await talk.say(text);
    expect([result.answer, result.pending, create.calls.length]).toEqual([answer, undefined, 0]);
  });

  it("asks for the number of instalments and takes the answer, in digits or words", async () => {
    const { talk } = demo();
    await talk.say("open a plan for customer 42");
    const second = await talk.say("twelve");
    expect(second.notice).toBe(notice(12, 184000));
  });

  it("says what became of a plan that lapsed", async () => {
    const { talk, create } = demo();
    await talk.say("customer 42, 3 instalments please");
    talk.wait(600_000);
    expect((await talk.say("yes")).answer).toContain("not confirmed in time");
    expect(create.calls).toEqual([]);
  });

  it.each(["", "   ", "¿?", "asdf qwer", "👍", "x".repeat(100_000), "42 ".repeat(5000), "\ud800"])(
    "has an answer to anything at all (%#)",
    async (text) => {
      const { talk, create } = demo();
      const result = await talk.say(text);
      expect(result.answer).not.toBe("");
      expect(create.calls).toEqual([]);
    },
  );

  it("switches customers without mixing them up", async () => {
    const { talk } = demo();
    await talk.say("cuánto debe el cliente 42");
    await talk.say("y el 7?");
    expect((await talk.say("en 2 cuotas")).notice).toBe(notice(2, 52300));
  });
});
