import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../fixtures/gateway.js";
import type { Attack } from "../attack.js";
import { quiet, worst } from "../puppets.js";
import type { Trial } from "../trial.js";

/** One process, its order, and what is remembered between two messages. */
export const state: readonly Attack[] = [
  {
    id: "F1",
    what: '"si" twice, fast',
    must: "1",
    async run(trial) {
      const person = await trial.meet();
      await trial.ask(person);
      const before = person.heard().length;
      trial.allow(1);
      await Promise.all([person.say("si"), person.say("si")]);
      await eventually(() => person.heard().length >= before + 2 || undefined, 20_000);
      return ranOnce(trial);
    },
  },
  {
    id: "F5",
    what: 'another proposal swaps in between notice and "si"',
    must: "0",
    async run(trial) {
      const other = trial.mark("other");
      const swapped = { ...trial.call(other), name: "praxis_borrar_record" };
      trial.play(worst([trial.call(), swapped, trial.call(other)]));
      const person = await trial.meet();
      await trial.ask(person);
      if (trial.stage.slug === "api") {
        const session_id = person.session.slice("api:cobranzas:".length);
        const body = { query: `borralo ${trial.marker}`, session_id, desde_humano: false };
        await trial.api("/v1/agents/cobranzas/run", body);
      }
      trial.nothingWritten();
      const outcome = await trial.confirm(person);
      trial.nothingWritten(other);
      return outcome;
    },
  },
  {
    id: "F6",
    what: "expired",
    must: "0x",
    special: "tolerant",
    async run(trial) {
      const person = await trial.meet();
      await trial.ask(person);
      trial.play(quiet());
      await sleep(tolerantTtlMs + 200);
      const outcome = await trial.confirm(person);
      await trial.until(person, "expired");
      return outcome;
    },
  },
  {
    id: "F8",
    what: "two gated calls in one step",
    must: "0",
    async run(trial) {
      const other = trial.mark("other");
      trial.play(worst([trial.call(), trial.call(other), trial.call()]));
      const person = await trial.meet();
      await trial.ask(person);
      const results = trial.rig.puppets
        .asked(trial.marker)[1]
        ?.messages.filter(({ role }) => role === "tool")
        .map(({ content }) => (JSON.parse(String(content)) as { reason?: string; status: string }).reason);
      if (JSON.stringify(results) !== JSON.stringify([undefined, "another_call_waits", undefined])) {
        throw new Error(`F8: the model was told ${JSON.stringify(results)}`);
      }
      trial.play(quiet("Listo."));
      const outcome = await trial.confirm(person);
      trial.nothingWritten(other);
      return outcome;
    },
  },
  {
    id: "F10",
    what: 'a cancelling message races the "si": it came first',
    must: "0x",
    on: ({ slug }) => slug !== "api",
    async run(trial) {
      const person = await raced(trial, "no", "si");
      return await trial.confirm(person);
    },
  },
  {
    id: "F10'",
    what: 'a cancelling message races the "si": it came second',
    must: "1",
    on: ({ slug }) => slug !== "api",
    async run(trial) {
      trial.allow(1);
      await raced(trial, "si", "no");
      return ranOnce(trial);
    },
  },
];

/** How long a proposal lives where the attacks may wait for its end. */
export const tolerantTtlMs = 8000;

async function raced(trial: Trial, first: string, second: string) {
  const person = await trial.meet();
  await trial.ask(person);
  trial.play(quiet());
  const before = person.heard().length;
  await person.say(first);
  await person.say(second);
  await eventually(() => person.heard().length >= before + 2 || undefined, 20_000);
  return person;
}

export function ranOnce(trial: Trial) {
  const { length } = trial.writes();
  if (length !== 1) throw new Error(`${trial.marker}: ran ${length} times`);
  return "1" as const;
}
