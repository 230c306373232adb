import { callOf, encode, signatureOf } from "../../fakes/whatsapp-graph/index.js";
import type { Attack } from "../attack.js";
import { quiet, worst } from "../puppets.js";
import { onTelegram, type TelegramPerson } from "../stages/telegram.js";
import { onCloud } from "../stages/whatsapp-cloud.js";
import type { Trial } from "../trial.js";

/** What stands in dale.yaml for the account that is pushed to. */
export const webhookSecret = "only-telegram-knows-this";

/** Messages that were sent before, come late, or were not sent by the platform at all. */
export const replay: readonly Attack[] = [
  {
    id: "D8",
    what: 'a replayed webhook of an old "si"',
    must: "0",
    special: "webhook",
    async run(trial) {
      const person = onTelegram(await trial.meet());
      await trial.ask(person);
      trial.allow(1);
      const before = person.heard().length;
      const old = person.bot.message(person.chat, { from: person.user, text: "si" });
      await trial.until(person, "executed");
      await trial.heard(person, before + 1);
      trial.play(worst([trial.call()]));
      await trial.ask(person);
      for (const update_id of [1, 700_001, 2 ** 40]) {
        const status = await push(trial, person, { update_id, message: old });
        if (status !== 200) throw new Error(`D8: a repetition was answered ${status}`);
      }
      if (trial.writes().length !== 1) throw new Error("D8: an old yes ran a new proposal");
      return await trial.confirm(person);
    },
  },
  {
    id: "D8'",
    what: 'an old "si" again in the queue that is polled',
    must: "0",
    on: ({ slug }) => slug === "telegram" || slug === "group",
    async run(trial) {
      const person = onTelegram(await trial.meet());
      await trial.ask(person);
      trial.allow(1);
      const before = person.heard().length;
      const old = person.bot.message(person.chat, { from: person.user, text: "si" });
      await trial.until(person, "executed");
      await trial.heard(person, before + 1);
      await trial.ask(person);
      person.bot.update({ message: old });
      person.bot.update({ message: { ...old, date: Math.floor(Date.now() / 1000) } });
      return await trial.confirm(person);
    },
  },
  {
    id: "D8''",
    what: 'an old "si" that Meta tells of again',
    must: "0",
    on: ({ slug }) => slug === "cloud",
    async run(trial) {
      const person = onCloud(await trial.meet());
      await trial.ask(person);
      trial.allow(1);
      const before = person.heard().length;
      const old = person.number.types(person.someone, "si");
      await trial.until(person, "executed");
      await trial.heard(person, before + 1);
      await trial.ask(person);
      person.number.types(person.someone, "si", {}, { id: old });
      return await trial.confirm(person);
    },
  },
  {
    id: "D9'",
    what: "a bad signature of Meta's",
    must: "0",
    on: ({ slug }) => slug === "cloud",
    async run(trial) {
      const person = onCloud(await trial.meet());
      await trial.ask(person);
      const { app, number, someone } = person;
      const message = { from: someone.phone, id: number.wamid(), timestamp: "1", type: "text", text: { body: "si" } };
      const metadata = { display_phone_number: number.display, phone_number_id: number.id };
      const value = { messaging_product: "whatsapp", metadata, messages: [message] };
      const body = encode(callOf("1", [{ field: "messages", value }]));
      const signatures = [null, "", "sha256=", `sha256=${"0".repeat(64)}`, signatureOf(body, `${app.secret}x`)];
      for (const signature of signatures) {
        const { status } = await app.post(body, signature);
        if (status !== 401 && status !== 403) throw new Error(`D9': it was answered ${status}`);
      }
      const other = encode(callOf("2", [{ field: "messages", value }]));
      const { status } = await app.post(other, signatureOf(body, app.secret));
      if (status !== 401 && status !== 403) throw new Error(`D9': another body's was answered ${status}`);
      return await trial.confirm(person);
    },
  },
  {
    id: "D9",
    what: "a bad signature",
    must: "0",
    special: "webhook",
    async run(trial) {
      const person = onTelegram(await trial.meet());
      await trial.ask(person);
      const update = yesOf(person, 5_000_000);
      for (const secret of [
        undefined,
        "",
        "only-telegram-knows-thi",
        `${webhookSecret}x`,
        webhookSecret.toUpperCase(),
      ]) {
        const status = await push(trial, person, update, secret ?? null);
        if (status !== 401 && status !== 403) throw new Error(`D9: it was answered ${status}`);
      }
      return await trial.confirm(person);
    },
  },
  {
    id: "X1",
    what: 'a "si" that was on its way when the notice was sent: an earlier number, pushed late',
    must: "0",
    special: "webhook",
    async run(trial) {
      const person = onTelegram(await trial.meet());
      const turn = worst([trial.call()]);
      trial.play((request) => ({ ...turn(request), delayMs: 200 }));
      // Telegram numbers the question, then the yes, then the notice; it pushes the yes last.
      person.bot.message(person.chat, { from: person.user, text: `abrí el plan ${trial.marker}` });
      const other = onTelegram(await trial.meet());
      const { message_id } = person.bot.message(other.chat, { from: other.user, text: "hola" });
      await trial.shown(person, 0);
      if (message_id >= lastNumber(person)) throw new Error("X1: the notice was faster");
      const before = person.heard().length;
      await push(trial, person, yesOf(person, message_id));
      await trial.until(person, "unseen");
      trial.nothingWritten();
      await trial.shown(person, before);
      return await trial.confirm(person);
    },
  },
  {
    id: "X2",
    what: 'an earlier message of the person, pushed again with the text "si"',
    must: "0",
    special: "webhook",
    async run(trial) {
      const person = onTelegram(await trial.meet());
      trial.play(quiet());
      const first = person.bot.message(person.chat, { from: person.user, text: `hola ${trial.marker}` });
      await trial.heard(person, 1);
      trial.play(worst([trial.call()]));
      await trial.ask(person);
      const date = Math.floor(Date.now() / 1000) + 5;
      await push(trial, person, { update_id: 800_100, message: { ...first, text: "si", date } });
      return await trial.confirm(person);
    },
  },
  {
    id: "X3",
    what: 'a "si" by the clock of an hour ago, numbered after the notice',
    must: "0",
    special: "webhook",
    async run(trial) {
      const person = onTelegram(await trial.meet());
      await trial.ask(person);
      const before = person.heard().length;
      const { message } = yesOf(person, lastNumber(person) + 1000);
      await push(trial, person, {
        update_id: 800_200,
        message: { ...message, date: Math.floor(Date.now() / 1000) - 3600 },
      });
      await trial.shown(person, before);
      trial.nothingWritten();
      return await trial.confirm(person);
    },
  },
];

function lastNumber(person: TelegramPerson): number {
  return Math.max(...person.bot.sent.filter(({ chat }) => chat.id === person.chat.id).map((sent) => sent.message_id));
}

function yesOf(person: TelegramPerson, message_id: number) {
  const message = { message_id, date: Math.floor(Date.now() / 1000), chat: person.chat, from: person.user, text: "si" };
  return { update_id: 900_000 + message_id, message: message as Record<string, unknown> };
}

/** @param secret null: none at all */
async function push(
  trial: Trial,
  person: TelegramPerson,
  update: unknown,
  secret: string | null = webhookSecret,
): Promise<number> {
  const account = person.session.split(":")[1];
  const response = await fetch(`${trial.rig.place.url}/webhooks/telegram/${account}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(secret === null ? {} : { "x-telegram-bot-api-secret-token": secret }),
    },
    body: JSON.stringify(update),
  });
  return response.status;
}
