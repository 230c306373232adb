/**
 * What Dale adds to a conversation: from the arrival of a message at the webhook to the model being called, and how long
 * a webhook waits for its acknowledgement while the model takes its time. The built program, its own Redis, low load.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { startBackend } from "../test/fakes/backend/index.js";
import { startFakeOpenAi } from "../test/fakes/openai/index.js";
import { startFakeBotApi } from "../test/fakes/telegram-bot-api/index.js";
import { cobranzasAgent, praxisConnections, praxisManifest } from "../test/fixtures/cobranzas.js";
import { install } from "../test/fixtures/gateway.js";

const messages = 300;
const warmUp = 50;
const modelMs = 1000;

const backend = await startBackend();
const arrived = new Map<string, number>();
const toModel: number[] = [];
const model = await startFakeOpenAi({
  script: (request) => {
    const sent = arrived.get(request.user);
    if (sent !== undefined) toModel.push(performance.now() - sent);
    return { text: "Hello.", delayMs: modelMs };
  },
});
const telegram = await startFakeBotApi();
const bot = telegram.bot();
const account = { name: "bot", agent: "cobranzas", token: bot.token, api_root: telegram.url };
const place = await install({
  config: {
    channels: {
      telegram: [{ ...account, mode: "webhook", secret_token: "s3cret", limits: { account: "off", chat: "off" } }],
    },
  },
  agents: { cobranzas: cobranzasAgent(model.url) },
  integrations: { praxis: praxisManifest },
  connections: praxisConnections(backend.url),
});
const dale = await place.start();
const acknowledged: number[] = [];
try {
  for (let n = 0; n < messages + warmUp; n++) {
    const { user, chat } = bot.person();
    const text = `message ${n}`;
    const body = JSON.stringify({
      update_id: 1000 + n,
      message: { message_id: 1000 + n, date: Math.floor(Date.now() / 1000), chat, from: user, text },
    });
    const began = performance.now();
    arrived.set(text, began);
    const response = await fetch(`${place.url}/webhooks/telegram/bot`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": "s3cret" },
      body,
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`the webhook answered ${response.status}`);
    acknowledged.push(performance.now() - began);
    await sleep(25);
  }
  await sleep(1000);
  print("arrival → model call", toModel.slice(warmUp), 15);
  print(`webhook acknowledged (model takes ${modelMs} ms)`, acknowledged.slice(warmUp), 10);
} finally {
  await dale.stop();
  await Promise.all([backend.close(), model.stop(), telegram.close()]);
  await place.remove();
}

function print(what: string, samples: readonly number[], target: number): void {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(2);
  console.log(
    `${what}: median ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms (target: median ${target} ms; n=${sorted.length})`,
  );
}
