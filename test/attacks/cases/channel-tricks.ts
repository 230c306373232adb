import { faults } from "../../fakes/telegram-bot-api/index.js";
import { eventually } from "../../fixtures/gateway.js";
import type { Attack, Stage, Way } from "../attack.js";
import { holding } from "../holding.js";
import { quiet, worst } from "../puppets.js";
import { onTelegram } from "../stages/telegram.js";
import { noticeStart } from "../trial.js";
import { answered, ignored } from "./words.js";

const way = (wanted: Way) => (stage: Stage) => stage.ways.has(wanted);

/** What channels make possible, beyond the list that everybody starts from. */
export const channelTricks: readonly Attack[] = [
  trick("X5", 'a "si" that was formatted as struck through', "struck"),
  trick("X6", "a command that can be tapped, `/si`", "command"),
  trick("X7", 'a "si" that a schedule sends', "scheduled"),
  trick("X8", '"si" as an answer to a message of another chat', "quoted_elsewhere"),
  trick("X9", '"si" as an answer to one sentence of a message', "partly_quoted"),
  {
    id: "X10",
    what: 'a button whose data is "si"',
    must: "0",
    on: way("button"),
    run: (trial) => ignored(trial, "si", { way: "button" }),
  },
  {
    id: "X11",
    what: 'another account of the same agent gets the "si"',
    must: "0",
    on: ({ slug }) => slug === "telegram",
    async run(trial) {
      const person = onTelegram(await trial.meet());
      await trial.ask(person);
      const { bot } = onTelegram(await trial.meet({ agent: "modelo" }));
      bot.message(person.chat, { from: person.user, text: "si" });
      await eventually(() => bot.pending().length === 0 || undefined);
      return await trial.confirm(person);
    },
  },
  {
    id: "X12",
    what: 'the API is told that the "si" is of a session named like the person\'s',
    must: "0",
    on: ({ slug }) => slug !== "api",
    async run(trial) {
      const person = await trial.meet();
      await trial.ask(person);
      for (const session_id of [
        person.session,
        `../${person.session}`,
        `x:${person.session}`,
        `${person.session}%00`,
      ]) {
        const body = { query: "si", session_id, desde_humano: true };
        const { status } = await trial.api(`/v1/agents/${person.agent}/run`, body);
        if (status !== 200) throw new Error(`X12: ${status}`);
      }
      const named = await trial.api(`/v1/agents/${encodeURIComponent("telegram:bot")}/run`, {
        query: "si",
        session_id: "x",
      });
      if (named.status !== 404) throw new Error(`X12: ${named.status}`);
      return await trial.confirm(person);
    },
  },
  {
    id: "X16",
    what: "yeses to a notice that never arrives: the fourth gives it up",
    must: "0x",
    on: (stage) => stage.receipts === true,
    async run(trial) {
      const person = await trial.meet({ blind: true });
      await trial.ask(person);
      trial.play(quiet());
      for (let times = 1; times <= 3; times++) {
        const [again] = await trial.talk(person, "si");
        if (!again?.startsWith(noticeStart)) throw new Error(`X16: it was not shown again: ${again}`);
      }
      await trial.talk(person, "si");
      await trial.until(person, "discarded");
      await person.receipts?.look();
      return await trial.confirm(person);
    },
  },
  {
    id: "X34",
    what: 'the "si" is changed to "no" before it is decided on: it waits for the receipt of the notice',
    must: "0x",
    on: ({ slug }) => slug === "cloud" || slug === "whatsapp",
    async run(trial) {
      const person = await trial.meet({ blind: true });
      await trial.ask(person);
      await trial.until(person, "notice_sent");
      trial.play(quiet());
      const before = person.heard().length;
      await person.say("si");
      await person.changes?.("no");
      await person.say("¿hola?");
      await person.receipts?.look();
      await trial.heard(person, before + 2);
      trial.nothingWritten();
      return await trial.confirm(person);
    },
  },
  {
    id: "X34'",
    what: 'the "si" is changed to "no" while the model thinks, before the call',
    must: "0x",
    agent: "modelo",
    on: ({ slug }) => slug === "telegram",
    async run(trial) {
      const person = await trial.meet();
      await trial.ask(person);
      const held = holding(trial);
      const before = person.heard().length;
      await person.say("si");
      await trial.until(person, "granted");
      await person.changes?.("no");
      await trial.until(person, "withdrawn");
      held.release();
      await trial.heard(person, before + 1);
      trial.nothingWritten();
      trial.play(quiet());
      await trial.talk(person, "no");
      return await trial.confirm(person);
    },
  },
  {
    id: "X35",
    what: '"si" while the notice waits, since the platform asked to send more slowly',
    must: "0",
    special: "faulty",
    agent: "modelo",
    async run(trial) {
      const person = onTelegram(await trial.meet());
      trial.play(worst([trial.call()]));
      person.bot.faults.add("sendMessage", faults.tooManyRequests(2));
      await person.say(`abrí el plan ${trial.marker}`);
      await trial.until(person, "proposed");
      await person.say("si");
      await trial.heard(person, 2);
      await trial.until(person, "unseen");
      trial.nothingWritten();
      return await trial.confirm(person);
    },
  },
];

function trick(id: string, what: string, how: Way): Attack {
  return { id, what, must: "0x", on: way(how), run: (trial) => answered(trial, "si", { way: how }) };
}
