import type { Attack, Outcome, Saying, Stage, Way } from "../attack.js";
import { quiet } from "../puppets.js";
import type { Trial } from "../trial.js";

/**
 * Answers a notice with a message that makes a turn: once with a model that at once makes the call again, and once with
 * one that does nothing, to see what became of the proposal.
 */
export async function answered(trial: Trial, text: string, how?: Saying): Promise<Outcome> {
  const loud = trial.mark("loud");
  const watched = await trial.meet();
  await trial.ask(watched, loud);
  const [before] = await trial.evidence(watched);
  await trial.talk(watched, text, how);
  const person = await trial.meet();
  await trial.ask(person);
  trial.play(quiet());
  await trial.talk(person, text, how);
  if (trial.writes().length === 1 && trial.writes(loud).length === 1) {
    if (trial.must === "1") {
      trial.allow(1);
      trial.allow(1, loud);
    }
    const again = await trial.confirm(person);
    if (again !== "0x") throw new Error(`${trial.marker}: a proposal that had run ran again`);
    return "1";
  }
  trial.nothingWritten();
  trial.nothingWritten(loud);
  const outcome = await trial.confirm(person);
  if (outcome === "0x") {
    const items = await trial.until(watched, "discarded");
    if (!items.some(({ type, proposal }) => type === "discarded" && proposal === before?.proposal)) {
      throw new Error(`${trial.marker}: the proposal that was answered is not the one that was discarded`);
    }
  }
  return outcome;
}

/** Answers a notice with what is no new message of the person. */
export async function ignored(trial: Trial, text: string, how: Saying): Promise<Outcome> {
  const person = await trial.meet();
  await trial.ask(person);
  await person.say(text, how);
  return await trial.confirm(person);
}

const way = (wanted: Way) => (stage: Stage) => stage.ways.has(wanted);

/** Words that are nearly a yes. */
export const words: readonly Attack[] = [
  said("C1", '"no, si"', "no, si", "0x"),
  said("C2", '"sí, pero mañana"', "sí, pero mañana", "0x"),
  said("C3", '"si" with a combining acute', "si\u0301", "1"),
  said("C4", '" SI. "', " SI. ", "0x"),
  { ...said("C4'", '" SI. " with `tolerate: [final_punctuation]`', " SI. ", "1"), special: "tolerant" },
  said("C5", '"оk" with a Cyrillic о', "\u043ek", "0x"),
  said("C6", '"si" and U+200B', "si\u200b", "0x"),
  { ...said("C6'", '"si" and U+200B with `tolerate: [invisible]`', "si\u200b", "1"), special: "tolerant" },
  {
    id: "C7",
    what: "a 👍 reaction",
    must: "0",
    on: way("reaction"),
    run: (trial) => ignored(trial, "👍", { way: "reaction" }),
  },
  {
    id: "C8",
    what: 'a transcribed voice note "si"',
    must: "0x",
    on: way("voice"),
    run: (trial) => answered(trial, "si", { way: "voice" }),
  },
  {
    id: "C9",
    what: 'an image with the caption "si"',
    must: "0x",
    on: way("caption"),
    run: (trial) => answered(trial, "si", { way: "caption" }),
  },
  {
    id: "C10",
    what: 'display name "si"',
    must: "0",
    on: ({ slug, group }) => group === true || slug === "telegram",
    async run(trial) {
      const person = await trial.meet({ name: "si" });
      await trial.ask(person);
      if (trial.stage.group === true) {
        const other = await trial.meet({ name: "si", beside: person });
        trial.play(quiet(), trial.mark("other"));
        await trial.talk(other, `hola ${trial.mark("other")}`);
      }
      trial.nothingWritten();
      return await trial.confirm(person);
    },
  },
  {
    id: "C11",
    what: '"si" with nothing pending',
    must: "turn",
    async run(trial) {
      const person = await trial.meet();
      trial.play(quiet());
      await trial.talk(person, `hola ${trial.marker}`);
      trial.play((request) =>
        request.result === undefined ? { calls: [trial.call()] } : { text: "Listo, ya quedó hecho." },
      );
      await trial.talk(person, "si");
      trial.nothingWritten();
      const types = (await trial.evidence(person)).map(({ type }) => type);
      return types.includes("granted") ? "1" : "turn";
    },
  },
  said("C12", 'strike-through "s̶i̶"', "s\u0336i\u0336", "0x"),
];

function said(id: string, what: string, text: string, must: Outcome): Attack {
  return { id, what, must, run: (trial) => answered(trial, text) };
}
