import type { HttpPorts } from "./ports.js";

/** The API's sessions have a name space of their own: nobody can speak as a person of a chat channel. */
export function apiSession(agent: string, sessionId: string): string {
  return `api:${agent}:${sessionId}`;
}

/**
 * The sessions that a name may stand for: a whole id stands for itself. Any other is what a caller of the API gave one of
 * the agents, or what an application that asks reviewers, or records confirmations, calls a session of its own.
 */
export function sessionsNamed(name: string, agents: readonly { readonly name: string }[]): readonly string[] {
  if (/^(telegram|whatsapp|whatsapp_cloud|webchat|api|mcp|schedule|workflow):/.test(name)) return [name];
  return [...agents.map((agent) => apiSession(agent.name, name)), name];
}

/** For a name out of a request: the `ses_…` of the logs is one too. */
export function createSessionFinder({ agents, turns }: Pick<HttpPorts, "agents" | "turns">) {
  return async (name: string): Promise<readonly string[]> =>
    name.startsWith("ses_") ? [(await turns.resolve(name)) ?? name] : sessionsNamed(name, agents());
}
