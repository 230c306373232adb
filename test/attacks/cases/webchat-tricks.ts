import { randomUUID } from "node:crypto";
import type { Attack, Stage } from "../attack.js";
import { onWebchat } from "../stages/webchat.js";
import { unseen } from "./notice.js";

const webchat = ({ slug }: Stage) => slug === "webchat";

/** What a browser can be made to do, or says of what it shows. */
export const webchatTricks: readonly Attack[] = [
  {
    id: "X13",
    what: "somebody else's browser says that the notice was rendered",
    must: "0",
    on: webchat,
    async run(trial) {
      const person = onWebchat(await trial.meet({ blind: true }));
      await trial.ask(person);
      const attacker = onWebchat(await trial.meet());
      const ids = person.messages.map(({ id }) => id);
      for (const level of ["delivered", "read"]) {
        const response = await attacker.request("/receipts", { ids, level });
        const { ids: taken } = (await response.json()) as { ids: unknown[] };
        if (taken.length > 0) throw new Error("X13: a receipt for a foreign message was taken");
      }
      return await unseen(trial, person);
    },
  },
  {
    id: "X14",
    what: "a page of another site posts the yes with the person's cookie",
    must: "0",
    on: webchat,
    async run(trial) {
      const person = onWebchat(await trial.meet());
      await trial.ask(person);
      const yes = () => ({ id: randomUUID(), text: "si" });
      const tricks: readonly Readonly<Record<string, string>>[] = [
        { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { origin: "https://evil.example" },
        { origin: "null" },
        { "content-type": "text/plain", origin: "https://evil.example" },
      ];
      for (const headers of tricks) {
        const { status } = await person.request("/messages", yes(), headers);
        if (status !== 403) throw new Error(`X14: ${JSON.stringify(headers)} was answered ${status}`);
      }
      for (const [body, headers] of [
        [yes(), { cookie: "dale_chat=AAAAAAAAAAAAAAAAAAAAAA" }],
        [yes(), { cookie: `dale_chat=${person.chat}` }],
      ] as const) {
        const { status } = await person.request("/messages", body, headers);
        if (status !== 401) throw new Error(`X14: a cookie that was made up was answered ${status}`);
      }
      return await trial.confirm(person);
    },
  },
  {
    id: "X15",
    what: 'a "si" that waited in the browser since before the notice',
    must: "0",
    on: webchat,
    async run(trial) {
      const person = onWebchat(await trial.meet());
      await trial.ask(person);
      const before = person.heard().length;
      await person.request("/messages", { id: randomUUID(), text: "si", waitedMs: 60_000 });
      await trial.shown(person, before);
      await person.request("/messages", { id: randomUUID(), text: "si", seen: "1-0" });
      await trial.heard(person, before + 2);
      await trial.until(person, "unseen", 2);
      trial.nothingWritten();
      return await trial.confirm(person);
    },
  },
];
