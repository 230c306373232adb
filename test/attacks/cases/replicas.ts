import { setTimeout as sleep } from "node:timers/promises";
import type { FakeBackend } from "../../fakes/backend/index.js";
import { eventually, type Gateway } from "../../fixtures/gateway.js";
import type { RedisServer } from "../../fixtures/redis-server.js";
import type { Attack } from "../attack.js";
import { doubleYeses } from "../double-yes.js";
import { holding } from "../holding.js";
import { quiet, resultsSince } from "../puppets.js";
import { apiStage } from "../stages/api.js";
import { onTelegram } from "../stages/telegram.js";
import { noticeStart, type Trial, yes } from "../trial.js";
import { ranOnce } from "./state.js";

/** One front that receives, sends and serves; workers that are frozen, killed and replaced. */
export interface Processes {
  readonly redis: RedisServer;
  readonly backend: FakeBackend;
  front: Gateway;
  workers: Gateway[];
  startWorker(): Promise<Gateway>;
  startFront(): Promise<Gateway>;
}

/** One after the other: each takes processes away from all others. */
export const replicas: readonly Attack[] = [
  {
    id: "F2",
    agent: "modelo",
    what: 'two workers, one "si": the first is frozen in the middle, and goes on when the second is done',
    must: "1",
    special: "replicas",
    async run(trial) {
      const processes = processesOf(trial);
      const [first, second] = await twoWorkers(processes);
      const person = await trial.meet();
      await trial.ask(person);
      second.process.kill("SIGSTOP");
      const held = holding(trial);
      trial.allow(1);
      const before = person.heard().length;
      await person.say(yes);
      await held.asked(1);
      first.process.kill("SIGSTOP");
      second.process.kill("SIGCONT");
      await held.asked(2);
      held.release();
      await trial.heard(person, before + 1);
      first.process.kill("SIGCONT");
      await trial.talk(person, "gracias");
      return ranOnce(trial);
    },
  },
  {
    id: "F2'",
    what: "a hundred people say yes twice at the same moment, two workers",
    must: "1",
    special: "replicas",
    async run(trial) {
      await twoWorkers(processesOf(trial));
      const came = await doubleYeses(trial, [trial.stage, apiStage(trial.rig.place)], 100);
      const { people, grants, executions, twice } = came;
      if (people !== 100 || grants !== 100 || executions !== 100 || twice > 0) throw new Error(JSON.stringify(came));
      return "1";
    },
  },
  {
    id: "F3",
    agent: "modelo",
    what: "the job is retried after a crash before the execution",
    must: "1",
    special: "replicas",
    async run(trial) {
      const processes = processesOf(trial);
      const person = await trial.meet();
      await trial.ask(person);
      const held = holding(trial);
      trial.allow(1);
      const before = person.heard().length;
      await person.say(yes);
      await held.asked(1);
      await killWorkers(processes);
      await twoWorkers(processes);
      held.release();
      await trial.heard(person, before + 1);
      return ranOnce(trial);
    },
  },
  {
    id: "F3'",
    what: "twelve are confirmed at once, and the workers are killed at any moment",
    must: "1",
    special: "replicas",
    async run(trial) {
      const processes = processesOf(trial);
      await twoWorkers(processes);
      const markers = Array.from({ length: 12 }, (_, index) => (index === 0 ? trial.marker : trial.mark(`n${index}`)));
      const people = await Promise.all(
        markers.map(async (marker) => {
          const person = await trial.meet();
          await trial.ask(person, marker);
          trial.play(quiet("Hecho."), marker);
          trial.allow(1, marker);
          return { person, before: person.heard().length };
        }),
      );
      await Promise.all(people.map(({ person }) => person.say(yes)));
      await eventually(() => processes.backend.writes.some(({ body }) => body.includes(trial.marker)) || undefined);
      await killWorkers(processes);
      await twoWorkers(processes);
      await Promise.all(people.map(({ person, before }) => trial.heard(person, before + 1)));
      const twice = markers.filter((marker) => trial.writes(marker).length > 1);
      if (twice.length > 0) throw new Error(`F3': ran twice: ${twice.join(", ")}`);
      for (const { person } of people) {
        const types = (await trial.evidence(person)).map(({ type }) => type);
        const ends = types.filter((type) => type === "executed" || type === "unknown").length;
        if (ends !== 1) throw new Error(`F3': an end that is not one: ${types.join(", ")}`);
      }
      return "1";
    },
  },
  {
    id: "F4",
    what: "a crash after the execution, before it was recorded",
    must: "unknown",
    special: "replicas",
    async run(trial) {
      const processes = processesOf(trial);
      const person = await trial.meet();
      await trial.ask(person);
      processes.backend.misbehave({ kind: "hang" });
      trial.allow(1);
      const before = person.heard().length;
      await person.say(yes);
      await eventually(() => trial.writes().length > 0 || undefined);
      await killWorkers(processes);
      processes.backend.behave();
      await twoWorkers(processes);
      trial.play(quiet());
      const told = (await trial.heard(person, before + 1)).at(-1) ?? "";
      if (!told.includes("No sé si praxis_crear_record llegó a ejecutarse")) throw new Error(`F4: told ${told}`);
      const { body } = await trial.api("/v1/unsettled");
      const open = (body.items as { session: string; proposal: string }[]).find(
        ({ session }) => session === person.session,
      );
      if (open === undefined) throw new Error("F4: the operator is not told");
      await trial.talk(person, yes);
      const settled = await trial.api(`/v1/unsettled/${open.proposal}`, { result: "not_executed", comment: "x" });
      if (settled.status !== 200) throw new Error(`F4: it could not be settled: ${settled.status}`);
      await trial.talk(person, yes);
      ranOnce(trial);
      return "unknown";
    },
  },
  {
    id: "F7",
    what: 'all processes restart between notice and "si", Redis too',
    must: "1",
    special: "replicas",
    async run(trial) {
      const processes = processesOf(trial);
      const person = await trial.meet();
      await trial.ask(person);
      // Redis writes its log every second.
      await sleep(1100);
      await Promise.all([processes.front.kill(), killWorkers(processes)]);
      await processes.redis.kill();
      await processes.redis.start();
      await processes.startFront();
      await twoWorkers(processes);
      trial.allow(1);
      await trial.talk(person, yes);
      return ranOnce(trial);
    },
  },
  {
    id: "X32",
    what: 'Redis hangs when the "si" comes',
    must: "1",
    special: "replicas",
    async run(trial) {
      const processes = processesOf(trial);
      await twoWorkers(processes);
      const person = await trial.meet();
      await trial.ask(person);
      await trial.until(person, "notice_delivered");
      const before = person.heard().length;
      processes.redis.freeze();
      await person.say(yes);
      await sleep(1500);
      trial.nothingWritten();
      trial.allow(1);
      processes.redis.resume();
      await trial.heard(person, before + 1);
      return ranOnce(trial);
    },
  },
  {
    id: "X33",
    what: "the sender dies while the notice is being sent: nobody knows whether it arrived",
    must: "0",
    special: "replicas",
    async run(trial) {
      const processes = processesOf(trial);
      await twoWorkers(processes);
      const person = onTelegram(await trial.meet());
      trial.play((request) => (resultsSince(request) === 0 ? { calls: [trial.call()] } : { text: "Mirá:" }));
      person.bot.faults.add("sendMessage", { kind: "hang", taken: true });
      await person.say(`abrí el plan ${trial.marker}`);
      const shown = await trial.shown(person, 0);
      if (!shown.startsWith("Mirá:")) throw new Error(`X33: ${shown}`);
      await processes.front.kill();
      await processes.startFront();
      const [, again] = await trial.heard(person, 2);
      if (!again?.startsWith(noticeStart)) throw new Error(`X33: it was not shown again: ${again}`);
      trial.play(quiet("Hecho."));
      trial.nothingWritten();
      return await trial.confirm(person);
    },
  },
];

function processesOf(trial: Trial): Processes {
  if (!trial.rig.processes) throw new Error("this attack is one on several processes");
  return trial.rig.processes;
}

/** Kills whoever works, and waits until they are gone. */
async function killWorkers(processes: Processes): Promise<void> {
  await Promise.all(processes.workers.splice(0).map((worker) => worker.kill()));
}

async function twoWorkers(processes: Processes): Promise<readonly [Gateway, Gateway]> {
  while (processes.workers.length < 2) processes.workers.push(await processes.startWorker());
  const [first, second] = processes.workers;
  if (!first || !second) throw new Error("there are no two workers");
  return [first, second];
}
