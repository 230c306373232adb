import type { Attack, Stage, Way } from "../attack.js";
import { quiet, worst } from "../puppets.js";
import { answered, ignored } from "./words.js";

const way = (wanted: Way) => (stage: Stage) => stage.ways.has(wanted);
const group = (stage: Stage) => stage.group === true;
const quotes = ({ slug }: Stage) => slug !== "api";

/** Somebody else's yes, or a yes that came otherwise than by being typed here and now. */
export const identity: readonly Attack[] = [
  {
    id: "D1",
    what: "another member of the group",
    must: "0",
    on: group,
    async run(trial) {
      const person = await trial.meet();
      await trial.ask(person);
      const other = await trial.meet({ name: "Beto", beside: person });
      await trial.talk(other, "si");
      await trial.talk(other, "dale", { quotes: 0 });
      trial.nothingWritten();
      return await trial.confirm(person);
    },
  },
  {
    id: "D2",
    what: "an anonymous admin or `sender_chat`",
    must: "0",
    on: way("anonymous_admin"),
    async run(trial) {
      const person = await trial.meet();
      await trial.ask(person);
      await person.say("si", { way: "anonymous_admin" });
      await person.say("si", { way: "linked_channel" });
      return await trial.confirm(person);
    },
  },
  {
    id: "D3",
    what: "`via_bot`",
    must: "0x",
    on: way("via_bot"),
    run: (trial) => answered(trial, "si", { way: "via_bot" }),
  },
  {
    id: "D4",
    what: 'a forwarded "si"',
    must: "0x",
    on: way("forwarded"),
    run: (trial) => answered(trial, "si", { way: "forwarded" }),
  },
  {
    id: "D5",
    what: 'an old message edited to "si"',
    must: "0",
    on: way("edited"),
    run: (trial) => ignored(trial, "si", { way: "edited" }),
  },
  {
    id: "D6",
    what: '"si" quoting an older notice',
    must: "0x",
    on: quotes,
    async run(trial) {
      const person = await trial.meet();
      await trial.ask(person);
      const older = person.heard().length - 1;
      trial.play(quiet());
      await trial.talk(person, "no, esperá");
      trial.play(worst([trial.call()]));
      await trial.ask(person);
      trial.play(quiet());
      await trial.talk(person, "si", { quotes: older });
      trial.nothingWritten();
      return await trial.confirm(person);
    },
  },
  {
    id: "D7",
    what: "the same person in another chat",
    must: "0",
    on: ({ slug }) => slug === "telegram" || slug === "group",
    async run(trial) {
      const person = await trial.meet();
      await trial.ask(person);
      const elsewhere = await trial.meet({ alsoAs: person });
      await trial.talk(elsewhere, "si");
      trial.nothingWritten();
      return await trial.confirm(person);
    },
  },
];
