import {
  awaitsReceipt,
  defaultWords,
  emptySlot,
  humanFacts,
  isConfirmation,
  reduce,
  type Slot,
} from "../src/gate/index.js";

/**
 * What a decision of the gate costs in CPU time: consent alone, and the whole transition by a person's message.
 * Target: 2 µs.
 */
const words = defaultWords("es-AR");
const rule = { words, tolerate: [], level: "delivered", showAgainLimit: 3 } as const;
const proposal = {
  id: "p-1",
  agent: "cobranzas",
  tool: "praxis_crear_record",
  fingerprint: "f".repeat(64),
  args: '{"cuotas":3,"entidad":"cob_acuerdo","monto":184000}',
  notice:
    "Para confirmar respondé SI. Voy a ejecutar: praxis_crear_record con entidad: cob_acuerdo, cuotas: 3, monto: 184000",
  turn: "t-1",
  proposedAt: 1_000,
  expiresAt: 601_000,
};

let slot: Slot = reduce(emptySlot, { type: "propose", proposal }, {}).slot;
const part = "out-t-1-1";
slot = reduce(slot, { type: "noticeSending", proposal: "p-1", part, at: 2_000 }, {}).slot;
slot = reduce(slot, { type: "noticeSent", proposal: "p-1", part, ref: "r", at: 2_010, sentAt: 2_000 }, {}).slot;
slot = reduce(
  slot,
  { type: "noticeDelivered", proposal: "p-1", part, level: "delivered", deliveredAt: 2_000, at: 2_020 },
  {},
).slot;

const message = (text: string) =>
  ({
    type: "humanMessage",
    run: { turn: "t-2", fence: 2 },
    facts: humanFacts({ id: "m-2", text, provenance: "typed", sentAt: 5_000, receivedAt: 5_100 }),
    rule,
    at: 5_200,
  }) as const;
const yes = message("Sí");
const phrase = message("bueno dale pero cambiame la cantidad");
const around = { lastSent: part };

const cases: readonly (readonly [string, () => unknown])[] = [
  ['isConfirmation("dale")', () => isConfirmation("dale", words)],
  ['isConfirmation("Sí")', () => isConfirmation("Sí", words)],
  ["a message that grants", () => reduce(slot, yes, around)],
  ["a message that discards", () => reduce(slot, phrase, around)],
  ["a message with nothing pending", () => reduce(emptySlot, phrase, around)],
  ["is it waiting for a receipt?", () => awaitsReceipt(slot, yes, around)],
];

const rounds = 200_000;
for (const [name, decide] of cases) {
  for (let i = 0; i < rounds; i++) decide();
  const times = Array.from({ length: 7 }, () => {
    const start = process.cpuUsage();
    for (let i = 0; i < rounds; i++) decide();
    const { user, system } = process.cpuUsage(start);
    return ((user + system) * 1000) / rounds;
  }).sort((one, other) => one - other);
  console.log(`${(times[3] ?? 0).toFixed(0).padStart(6)} ns (median of 7)  ${name}`);
}
