import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeBotApi, startFakeBotApi } from "../fakes/telegram-bot-api/index.js";
import {
  cobranzasAgent,
  praxisConnections,
  praxisManifest,
  storyModel,
  storyNotice,
  storyPlan,
  storyQuestion,
} from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";

describe.each(["polling", "webhook"] as const)("the first conversation, over Telegram by %s", (mode) => {
  let backend: FakeBackend;
  let model: FakeOpenAi;
  let telegram: FakeBotApi;
  let bot: ReturnType<FakeBotApi["bot"]>;
  let place: Installation;
  let dale: Gateway;

  beforeAll(async () => {
    [backend, model, telegram] = await Promise.all([
      startBackend(),
      startFakeOpenAi({ script: storyModel }),
      startFakeBotApi(),
    ]);
    bot = telegram.bot();
    const account = { name: "bot", agent: "cobranzas", token: bot.token, api_root: telegram.url };
    place = await install({
      config: {
        channels: { telegram: [{ ...account, mode, ...(mode === "webhook" ? { secret_token: "s3cret" } : {}) }] },
      },
      agents: { cobranzas: cobranzasAgent(model.url) },
      integrations: { praxis: praxisManifest },
      connections: praxisConnections(backend.url),
    });
    dale = await place.start();
    if (mode === "webhook") {
      await fetch(`${telegram.url}/bot${bot.token}/setWebhook`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ url: `${place.url}/webhooks/telegram/bot`, secret_token: "s3cret" }),
      });
    }
  });
  afterAll(async () => {
    expect(await dale.stop()).toBe(0);
    await Promise.all([backend.close(), model.stop(), telegram.close()]);
    await place.remove();
  });

  let sent: number;
  let written: number;
  beforeEach(() => {
    sent = bot.sent.length;
    written = backend.writes.length;
  });
  afterEach(() => {
    expect(dale.output()).not.toContain(storyQuestion);
    expect(dale.output()).not.toContain(bot.token);
  });
  const answer = (n = 1) => eventually(() => bot.sent[sent + n - 1]?.text);
  const evidence = async (session: string): Promise<string[]> => {
    const response = await fetch(`${place.url}/v1/evidence?session=${encodeURIComponent(session)}`, {
      headers: { authorization: `Bearer ${place.token}` },
    });
    const { items } = (await response.json()) as { items: { type: string }[] };
    return items.map(({ type }) => type);
  };

  it("runs the call after the person's yes, exactly as it was shown", async () => {
    const { user, chat } = bot.person();
    bot.message(chat, { from: user, text: storyQuestion });
    expect(await answer()).toBe(`Customer 42 owes $184,000.\n\n${storyNotice}`);
    expect(backend.writes.length).toBe(written);

    bot.message(chat, { from: user, text: "dale" });
    expect(await answer(2)).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(backend.writes.slice(written).map(({ body }) => JSON.parse(body))).toEqual([storyPlan]);
    const types = await eventually(async () => {
      const seen = await evidence(`telegram:bot:${chat.id}:${user.id}`);
      return seen.includes("executed") ? seen : undefined;
    });
    expect(types).toEqual(["proposed", "notice_sent", "notice_delivered", "granted", "consumed", "executed"]);
  });

  it("discards the call when the person says anything else", async () => {
    const { user, chat } = bot.person();
    bot.message(chat, { from: user, text: storyQuestion });
    await answer();
    bot.message(chat, { from: user, text: "bueno dale pero cambiame la cantidad" });
    await answer(2);
    bot.message(chat, { from: user, text: "dale" });
    await answer(3);
    expect(backend.writes.length).toBe(written);
    expect(await evidence(`telegram:bot:${chat.id}:${user.id}`)).toContain("discarded");
  });
});
