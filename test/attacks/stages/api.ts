import { randomUUID } from "node:crypto";
import type { Installation } from "../../fixtures/gateway.js";
import type { Person, Stage } from "../attack.js";
import { agentNames } from "../desk.js";

/** People whose words an application hands on over `POST /v1/agents/<name>/run`. */
export function apiStage(place: Installation): Stage {
  return {
    name: "API",
    slug: "api",
    longest: 64_000,
    agents: new Set(agentNames),
    ways: new Set(["typed"]),
    async meet({ agent = "cobranzas" } = {}) {
      const id = randomUUID();
      const heard: string[] = [];
      const person: Person = {
        session: `api:${agent}:${id}`,
        agent,
        heard: () => heard,
        async say(query) {
          // Whoever gets no answer has heard nothing.
          void run(place, agent, { query, session_id: id }).then(
            ({ body }) => heard.push(String(body.answer)),
            () => undefined,
          );
        },
      };
      return person;
    },
  };
}

export async function run(place: Installation, agent: string, body: Readonly<Record<string, unknown>>) {
  const response = await fetch(`${place.url}/v1/agents/${agent}/run`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${place.token}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
}
