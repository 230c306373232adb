import { eventually } from "../fixtures/gateway.js";
import type { Person, Stage } from "./attack.js";
import { quiet } from "./puppets.js";
import type { Trial } from "./trial.js";
import { yes } from "./trial.js";

/** What came of many yeses at once. */
export interface DoubleYeses {
  readonly people: number;
  readonly grants: number;
  /** Requests that the back end got, repetitions included. */
  readonly executions: number;
  /** Proposals that were executed more than once. */
  readonly twice: number;
  /** From the first yes to the last answer, ms. */
  readonly ms: number;
}

/** How many ask for their plan at the same time; the yeses come all at once. */
const askingAtOnce = 40;

/**
 * Everybody has a plan before their eyes, and says yes to it twice, all at the same moment.
 * @param meanwhile what happens to Dale while it works at that
 */
export async function doubleYeses(
  trial: Trial,
  stages: readonly Stage[],
  count: number,
  meanwhile?: () => Promise<void>,
): Promise<DoubleYeses> {
  const everybody: { readonly person: Person; readonly marker: string }[] = [];
  const wanted = Array.from({ length: count }, (_, index) => index);
  const asking = async () => {
    for (let index = wanted.shift(); index !== undefined; index = wanted.shift()) {
      const stage = stages[index % stages.length];
      if (!stage) throw new Error("nobody can be met");
      const marker = trial.mark(`n${index}`);
      trial.play(
        (request) => (request.result === undefined ? { calls: [trial.call(marker)] } : { text: "Ahí está." }),
        marker,
      );
      const person = await stage.meet();
      trial.joins(person);
      await trial.ask(person, marker);
      trial.play(quiet("Hecho."), marker);
      trial.allow(1, marker);
      everybody.push({ person, marker });
    }
  };
  await Promise.all(Array.from({ length: askingAtOnce }, asking));

  const heard = new Map(everybody.map(({ person }) => [person, person.heard().length]));
  const startedAt = Date.now();
  const said = everybody.flatMap(({ person }) => [person.say(yes), person.say(yes)]);
  await Promise.all([...said, meanwhile?.()]);
  await eventually(
    () => everybody.every(({ person }) => person.heard().length >= (heard.get(person) ?? 0) + 2) || undefined,
    120_000,
  );
  const ms = Date.now() - startedAt;

  let grants = 0;
  for (const { person } of everybody) {
    grants += (await trial.evidence(person)).filter(({ type }) => type === "granted").length;
  }
  const writes = everybody.flatMap(({ marker }) => trial.writes(marker));
  const proposals = writes.map(({ headers }) => headers["idempotency-key"]);
  return {
    people: everybody.length,
    grants,
    executions: writes.length,
    twice: proposals.length - new Set(proposals).size,
    ms,
  };
}
