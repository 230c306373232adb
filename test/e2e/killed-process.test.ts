import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeBot, type FakeBotApi, startFakeBotApi } from "../fakes/telegram-bot-api/index.js";
import { cobranzasAgent, praxisConnections, praxisManifest, storyModel, storyQuestion } from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";
import { type RedisServer, startRedisServer } from "../fixtures/redis-server.js";

/** Two processes on one Redis: a front that receives, sends and serves, and workers that are killed. */
describe("a worker that is killed in the middle of a turn", () => {
  let redis: RedisServer;
  let backend: FakeBackend;
  let model: FakeOpenAi;
  let telegram: FakeBotApi;
  let bot: FakeBot;
  let place: Installation;
  let front: Gateway;
  let worker: Gateway;

  beforeAll(async () => {
    [redis, backend, telegram] = await Promise.all([startRedisServer(), startBackend(), startFakeBotApi()]);
    model = await startFakeOpenAi({ script: storyModel });
    bot = telegram.bot();
    place = await install({
      config: {
        redis: { url: redis.url },
        channels: {
          telegram: [
            {
              name: "bot",
              agent: "cobranzas",
              token: bot.token,
              api_root: telegram.url,
              limits: { account: "off", chat: "off" },
            },
          ],
        },
      },
      agents: { cobranzas: cobranzasAgent(model.url) },
      integrations: { praxis: praxisManifest },
      connections: praxisConnections(backend.url),
    });
    front = await place.start({ roles: "ingress,sender,http" });
  });
  afterAll(async () => {
    await front.stop();
    await Promise.all([backend.close(), model.stop(), telegram.close()]);
    await redis.remove();
    await place.remove();
  });
  beforeEach(async () => {
    model.plays(storyModel);
    worker = await place.start({ roles: "worker" });
  });
  afterEach(async () => {
    backend.behave();
    await worker.stop();
  });

  const textsTo = (chat: number) => bot.sent.filter((message) => message.chat.id === chat).map(({ text }) => text);
  const api = async (path: string) => {
    const response = await fetch(`${place.url}${path}`, { headers: { authorization: `Bearer ${place.token}` } });
    return (await response.json()) as { items: Record<string, string>[] };
  };

  it("loses no message: another worker answers it, once", async () => {
    const { user, chat } = bot.person();
    const asked = model.requests.length;
    model.plays((request) => ({ text: `Hello ${request.user}`, delayMs: 1500 }));
    bot.message(chat, { from: user, text: "one" });
    bot.message(chat, { from: user, text: "two" });
    await eventually(() => model.requests.length > asked || undefined);
    await worker.kill();
    worker = await place.start({ roles: "worker" });
    await eventually(() => textsTo(chat.id).length >= 2 || undefined, 30_000);
    expect(textsTo(chat.id)).toEqual(["Hello one", "Hello two"]);
  });

  it("does not write twice when it was killed before the answer was committed", async () => {
    const { user, chat } = bot.person();
    const written = backend.writes.length;
    bot.message(chat, { from: user, text: storyQuestion });
    await eventually(() => textsTo(chat.id)[0]);
    let told = 0;
    model.plays((request) => {
      const answer = storyModel(request);
      if (!("text" in answer) || !answer.text?.startsWith("Done")) return answer;
      told++;
      return { ...answer, delayMs: told === 1 ? 20_000 : 0 };
    });
    bot.message(chat, { from: user, text: "dale" });
    await eventually(() => told > 0 || undefined);
    expect(backend.writes.length).toBe(written + 1);
    await worker.kill();
    worker = await place.start({ roles: "worker" });
    await eventually(() => textsTo(chat.id)[1], 30_000);
    expect(textsTo(chat.id)[1]).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(backend.writes.length).toBe(written + 1);
  });

  it("calls an execution that it was killed in unknown, tells the person, and never repeats it", async () => {
    const { user, chat } = bot.person();
    bot.message(chat, { from: user, text: storyQuestion });
    await eventually(() => textsTo(chat.id)[0]);
    const received = backend.received.length;
    backend.misbehave({ kind: "hang" });
    bot.message(chat, { from: user, text: "dale" });
    await eventually(() => backend.received.length > received || undefined);
    await worker.kill();
    backend.behave();
    worker = await place.start({ roles: "worker" });
    const answer = await eventually(() => textsTo(chat.id)[1], 30_000);
    expect(answer).toContain("No sé si praxis_crear_record llegó a ejecutarse");
    const posts = backend.received.slice(received).filter(({ method }) => method === "POST");
    expect(posts.length).toBe(1);
    const session = `telegram:bot:${chat.id}:${user.id}`;
    const { items } = await api(`/v1/evidence?session=${encodeURIComponent(session)}`);
    expect(items.map(({ type }) => type)).toEqual(expect.arrayContaining(["consumed", "unknown"]));
    const { items: unsettled } = await api("/v1/unsettled");
    expect(unsettled.map((item) => item.session)).toContain(session);
  });

  it("goes on where it was when Redis is killed and comes back", async () => {
    const { user, chat } = bot.person();
    bot.message(chat, { from: user, text: storyQuestion });
    await eventually(() => textsTo(chat.id)[0]);
    const written = backend.writes.length;
    // Killed earlier, nobody would know that the notice had arrived: it would be shown again, and rightly.
    await eventually(async () => {
      const { items } = await api(`/v1/evidence?session=${encodeURIComponent(`telegram:bot:${chat.id}:${user.id}`)}`);
      return items.some(({ type }) => type === "notice_delivered") || undefined;
    });
    await redis.kill();
    bot.message(chat, { from: user, text: "dale" });
    await redis.start();
    await eventually(() => textsTo(chat.id)[1], 40_000);
    expect(textsTo(chat.id)).toHaveLength(2);
    expect(backend.writes.length).toBe(written + 1);
  });
});
