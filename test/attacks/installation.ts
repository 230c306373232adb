import { Queue } from "bullmq";
import { startFakeTranscription } from "../fakes/transcription/index.js";
import { startFakeGraph } from "../fakes/whatsapp-graph/index.js";
import { startFakeWhatsappWeb } from "../fakes/whatsapp-web/index.js";
import { type Gateway, type Installation, install } from "../fixtures/gateway.js";
import { startRedisServer } from "../fixtures/redis-server.js";
import type { Special, Stage } from "./attack.js";
import { webhookSecret } from "./cases/replay.js";
import type { Processes } from "./cases/replicas.js";
import { tolerantTtlMs } from "./cases/state.js";
import { agentNames, policies, workflowFile } from "./desk.js";
import { accountsOf, botsOf, filesOf, type Outside, startOutside } from "./outside.js";
import { apiStage } from "./stages/api.js";
import { type TelegramBots, telegramStage } from "./stages/telegram.js";
import { webchatStage } from "./stages/webchat.js";
import { linked, whatsappStage } from "./stages/whatsapp.js";
import { cloudAccount, cloudStage, cloudVerifyToken } from "./stages/whatsapp-cloud.js";

/** A gateway under attack, and the ways in. */
export interface Fortress {
  readonly place: Installation;
  readonly stages: readonly Stage[];
  /** Lets the schedules come due now. */
  tick(): Promise<void>;
  readonly outside: Outside;
  readonly processes?: Processes;
  close(): Promise<void>;
}

/** The whole of Dale in one process, every agent on every channel. */
export async function startFortress(outside: Outside): Promise<Fortress> {
  const bots = botsOf(outside, agentNames, "");
  const groups = botsOf(outside, ["cobranzas"], "group-");
  const faulty = botsOf(outside, ["cobranzas", "modelo"], "faulty-");
  const hooked = botsOf(outside, ["cobranzas"], "hooked-");
  const [redis, graph, web, ear] = await Promise.all([
    startRedisServer(),
    startFakeGraph(),
    startFakeWhatsappWeb(),
    startFakeTranscription({ text: "si" }),
  ]);
  const app = graph.app();
  const cloud = { app, number: app.number(), account: "main" };
  const accounts = Object.fromEntries(agentNames.map((agent) => [agent, `web-${agent}`]));
  const place = await install({
    config: {
      redis: { url: redis.url },
      policies: "policies.yaml",
      media: { transcription: { endpoint: ear.url, model: "whisper" } },
      channels: {
        telegram: [
          ...accountsOf(outside, bots, { groups: "always" }),
          ...accountsOf(outside, groups, { groups: "always" }),
          ...accountsOf(outside, faulty, {}),
          ...accountsOf(outside, hooked, { mode: "webhook", secret_token: webhookSecret }),
        ],
        whatsapp: [
          { name: "shop", agent: "cobranzas", socket_url: web.url, pacing: "off", limits: "off", groups: "always" },
        ],
        whatsapp_cloud: [cloudAccount(graph, cloud)],
        webchat: agentNames.map((agent) => ({ name: accounts[agent], agent })),
      },
    },
    ...filesOf(outside),
    more: {
      "agents/informe.workflow.yaml": JSON.stringify(workflowFile),
      "policies.yaml": JSON.stringify(policies),
    },
  });
  const dale = await place.start();
  await Promise.all([
    setWebhooks(outside, place, hooked),
    app.subscribe(`${place.url}/webhooks/whatsapp-cloud/${cloud.account}`, cloudVerifyToken),
    linked(web, place, "shop"),
  ]);
  const stages: readonly Stage[] = [
    telegramStage({ name: "Telegram", slug: "telegram", bots }),
    telegramStage({ name: "Telegram group", slug: "group", bots: groups, group: true }),
    whatsappStage(web, "shop"),
    whatsappStage(web, "shop", true),
    cloudStage(cloud),
    webchatStage(place, accounts),
    apiStage(place),
    telegramStage({ name: "Telegram", slug: "faulty", bots: faulty, special: "faulty" }),
    telegramStage({ name: "Telegram by webhook", slug: "webhook", bots: hooked, special: "webhook" }),
    emptyStage("files", "check"),
    emptyStage("the runtime in memory", "memory"),
  ];
  return {
    place,
    outside,
    tick: () => tick(redis.url),
    stages,
    async close() {
      await Promise.all(stages.map((stage) => stage.close?.()));
      await stopped(dale, place);
      await Promise.all([redis.remove(), graph.close(), web.close(), ear.stop()]);
    },
  };
}

/** The same with every tolerance, and proposals that do not live long. */
export async function startTolerantFortress(outside: Outside): Promise<Fortress> {
  const bots = botsOf(outside, ["cobranzas"], "tolerant-");
  const place = await install({
    config: {
      gate: { tolerate: ["final_punctuation", "invisible"], ttl: `${tolerantTtlMs}ms` },
      channels: { telegram: accountsOf(outside, bots, {}) },
    },
    ...filesOf(outside),
  });
  const dale = await place.start();
  return {
    place,
    outside,
    tick: async () => undefined,
    stages: [
      { ...telegramStage({ name: "Telegram", slug: "tolerant", bots }), special: "tolerant" },
      { ...apiStage(place), slug: "tolerant-api", special: "tolerant" },
    ],
    close: () => stopped(dale, place),
  };
}

/** Where nobody is met. */
function emptyStage(name: string, special: Special): Stage {
  const meet = () => Promise.reject(new Error(`nobody is met in ${name}`));
  return { name, slug: special, special, longest: 0, agents: new Set(["cobranzas"]), ways: new Set(), meet };
}

async function setWebhooks(outside: Outside, place: Installation, bots: TelegramBots): Promise<void> {
  for (const { bot, account } of Object.values(bots)) {
    await fetch(`${outside.telegram.url}/bot${bot.token}/setWebhook`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ url: `${place.url}/webhooks/telegram/${account}`, secret_token: webhookSecret }),
    });
  }
}

/** A schedule's next run waits in its queue: it is called up before its time. */
async function tick(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const queue = new Queue("schedule", { connection: { host: hostname, port: Number(port) }, prefix: "{dale:0}" });
  for (const job of await queue.getDelayed()) await job.promote();
  await queue.close();
}

/** Several processes on one Redis; the platforms are its own, since what fails there fails for everybody. */
export async function startReplicas(): Promise<Fortress> {
  const [outside, redis] = await Promise.all([startOutside(), startRedisServer()]);
  const bots = botsOf(outside, ["cobranzas", "modelo"], "replica-");
  const place = await install({
    config: { redis: { url: redis.url }, channels: { telegram: accountsOf(outside, bots, {}) } },
    ...filesOf(outside),
  });
  const startWorker = () => place.start({ roles: "worker" });
  const startFront = async () => {
    processes.front = await place.start({ roles: "ingress,sender,http" });
    return processes.front;
  };
  const front = await place.start({ roles: "ingress,sender,http" });
  const workers = [await startWorker()];
  const processes: Processes = { redis, backend: outside.backend, front, workers, startWorker, startFront };
  return {
    place,
    outside,
    processes,
    tick: async () => undefined,
    stages: [telegramStage({ name: "Telegram with several processes", slug: "replicas", bots, special: "replicas" })],
    async close() {
      await Promise.all([...processes.workers, processes.front].map((one) => one.stop()));
      await place.remove();
      await redis.remove();
      await outside.close();
    },
  };
}

async function stopped(dale: Gateway, place: Installation): Promise<void> {
  const code = await dale.stop();
  await place.remove();
  if (code !== 0) throw new Error(`dale ended with ${code}:\n${dale.output().slice(-4000)}`);
}
