import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeBotApi, startFakeBotApi } from "../fakes/telegram-bot-api/index.js";
import { praxisConnections } from "../fixtures/cobranzas.js";
import { agentFiles, manifest } from "./desk.js";
import { createPuppets, type Puppets } from "./puppets.js";
import type { TelegramBots } from "./stages/telegram.js";

/** The platforms that every installation talks to. */
export interface Outside {
  readonly backend: FakeBackend;
  readonly model: FakeOpenAi;
  readonly telegram: FakeBotApi;
  readonly puppets: Puppets;
  close(): Promise<void>;
}

export async function startOutside(): Promise<Outside> {
  const puppets = createPuppets();
  const [backend, model, telegram] = await Promise.all([
    startBackend(),
    startFakeOpenAi({ script: puppets.play }),
    startFakeBotApi(),
  ]);
  return {
    backend,
    model,
    telegram,
    puppets,
    async close() {
      await Promise.all([backend.close(), model.stop(), telegram.close()]);
    },
  };
}

/** A bot for each of those agents. */
export function botsOf(outside: Outside, agents: readonly string[], prefix: string): TelegramBots {
  return Object.fromEntries(
    agents.map((agent) => [agent, { bot: outside.telegram.bot(), account: `${prefix}${agent}` }] as const),
  );
}

/** Those bots' accounts in dale.yaml. */
export function accountsOf(
  outside: Outside,
  bots: TelegramBots,
  more: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  return Object.entries(bots).map(([agent, { bot, account }]) => ({
    name: account,
    agent,
    token: bot.token,
    api_root: outside.telegram.url,
    limits: "off",
    ...more,
  }));
}

/** The files of an installation that talks to them. */
export function filesOf(outside: Outside) {
  return {
    agents: agentFiles(outside.model.url),
    integrations: { praxis: manifest },
    connections: praxisConnections(outside.backend.url),
  };
}
