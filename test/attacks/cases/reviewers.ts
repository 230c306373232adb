import { eventually } from "../../fixtures/gateway.js";
import type { Attack } from "../attack.js";
import { reviewedTool } from "../desk.js";
import { quiet, worst } from "../puppets.js";
import { gatedTool, type Trial, yes } from "../trial.js";
import { ranOnce } from "./state.js";

/** Reviewers say yes as well as the person, never in their place. */
export const reviewers: readonly Attack[] = [
  {
    id: "X36",
    what: "an app has reviewers approve the very call that waits for the person",
    must: "0",
    on: ({ slug }) => slug === "telegram" || slug === "webchat" || slug === "api",
    async run(trial) {
      const person = await trial.meet();
      await trial.ask(person);
      const question = { session: person.session, tool: gatedTool, args: trial.plan() };
      const asked = await trial.api("/v1/approvals", question);
      if (asked.status !== 201) throw new Error(`X36: ${asked.status}`);
      const approved = await trial.api(`/v1/approvals/${asked.body.id}/approve`, { reviewer: "x" });
      if (approved.status !== 200) throw new Error(`X36: ${approved.status}`);
      if (trial.stage.slug === "api") {
        const session_id = person.session.slice("api:cobranzas:".length);
        const body = { query: "ahora", session_id, desde_humano: false };
        await trial.api("/v1/agents/cobranzas/run", body);
      }
      trial.nothingWritten();
      return await trial.confirm(person);
    },
  },
  {
    id: "X37",
    what: "a call that needs a reviewer too: approved twice at once, after two yeses of the person",
    must: "1",
    on: ({ slug }) => slug === "telegram" || slug === "webchat" || slug === "api",
    async run(trial) {
      const person = await trial.meet();
      trial.play(worst([{ name: reviewedTool, arguments: trial.plan() }]));
      await trial.ask(person);
      if ((await waiting(trial, person.session)).length > 0) throw new Error("X37: it waits before the person's yes");
      trial.play(quiet("Listo."));
      await trial.talk(person, yes);
      await trial.talk(person, yes);
      trial.nothingWritten();
      const [open, ...more] = await waiting(trial, person.session);
      if (open === undefined || more.length > 0) throw new Error(`X37: ${1 + more.length} wait`);
      trial.allow(1);
      const decide = () => trial.api(`/v1/approvals/${open}/approve`, { reviewer: "x" });
      const statuses = (await Promise.all([decide(), decide()])).map(({ status }) => status).sort();
      if (statuses.join() !== "200,409") throw new Error(`X37: ${statuses.join()}`);
      await eventually(() => trial.writes().length > 0 || undefined);
      await trial.talk(person, yes);
      return ranOnce(trial);
    },
  },
];

async function waiting(trial: Trial, session: string): Promise<readonly string[]> {
  const { body } = await trial.api("/v1/approvals");
  return (body.items as { id: string; session: string }[]).filter((one) => one.session === session).map(({ id }) => id);
}
