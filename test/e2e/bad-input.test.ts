import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeAnswer, type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeBot, type FakeBotApi, startFakeBotApi } from "../fakes/telegram-bot-api/index.js";
import { cobranzasAgent, praxisConnections, praxisManifest } from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";
import { type RedisServer, startRedisServer } from "../fixtures/redis-server.js";

let redis: RedisServer;
let backend: FakeBackend;
let model: FakeOpenAi;
let telegram: FakeBotApi;
let polled: FakeBot;
let hooked: FakeBot;
let place: Installation;
let dale: Gateway;

beforeAll(async () => {
  [redis, backend, model, telegram] = await Promise.all([
    startRedisServer(),
    startBackend(),
    startFakeOpenAi(),
    startFakeBotApi(),
  ]);
  polled = telegram.bot();
  hooked = telegram.bot();
  const shared = { agent: "cobranzas", api_root: telegram.url, limits: { account: "off", chat: "off" } };
  place = await install({
    config: {
      redis: { url: redis.url },
      channels: {
        telegram: [
          { name: "polled", token: polled.token, ...shared },
          { name: "hooked", token: hooked.token, mode: "webhook", secret_token: "s3cret", ...shared },
        ],
      },
    },
    agents: {
      cobranzas: cobranzasAgent(model.url, {
        orchestration: { pattern: "react", max_iterations: 4, timeout_seconds: 8 },
      }),
    },
    integrations: { praxis: praxisManifest },
    connections: praxisConnections(backend.url),
  });
  dale = await place.start();
});
afterAll(async () => {
  expect(await dale.stop()).toBe(0);
  await Promise.all([backend.close(), model.stop(), telegram.close()]);
  await redis.remove();
  await place.remove();
});
afterEach(() => {
  backend.behave();
  expect(dale.process.exitCode).toBeNull();
});

const textsTo = (bot: FakeBot, chat: number) =>
  bot.sent.filter((sent) => sent.chat.id === chat).map(({ text }) => text);
const run = async (query: string, session: string, signal?: AbortSignal) => {
  const response = await fetch(`${place.url}/v1/agents/cobranzas/run`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${place.token}` },
    body: JSON.stringify({ query, session_id: session }),
    ...(signal ? { signal } : {}),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const push = (writer: ReturnType<FakeBot["person"]>, id: number, text: string, signal?: AbortSignal) =>
  fetch(`${place.url}/webhooks/telegram/hooked`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": "s3cret" },
    body: JSON.stringify({
      update_id: 900_000 + id,
      message: {
        message_id: 5000 + id,
        date: Math.floor(Date.now() / 1000),
        chat: writer.chat,
        from: writer.user,
        text,
      },
    }),
    ...(signal ? { signal } : {}),
  });

describe("Redis away", () => {
  it.each([
    ["is dead", () => redis.kill(), () => redis.start()],
    ["hangs", async () => redis.freeze(), async () => redis.resume()],
  ])(
    "refuses webhooks in time and acknowledges nothing while it %s; all goes on when it is back",
    async (_, stop, go) => {
      model.plays((request) => ({ text: `echo ${request.user}` }));
      const { user, chat } = polled.person();
      const writer = hooked.person();
      const id = Math.floor(Math.random() * 100_000);
      await stop();
      polled.message(chat, { from: user, text: "while it was away" });
      const refused = await push(writer, id, "refused", AbortSignal.timeout(2000));
      expect(refused.status).toBe(503);
      expect((await run("hello", "away", AbortSignal.timeout(5000))).status).toBe(503);
      expect(polled.pending().length).toBeGreaterThan(0);
      await go();
      await eventually(() => textsTo(polled, chat.id).includes("echo while it was away") || undefined, 30_000);
      const taken = await eventually(async () =>
        (await push(writer, id, "refused")).status === 200 ? true : undefined,
      );
      expect(taken).toBe(true);
      await push(writer, id, "refused");
      await eventually(() => textsTo(hooked, writer.chat.id)[0], 20_000);
      await eventually(() => polled.pending().length === 0 || undefined);
      expect(textsTo(polled, chat.id)).toEqual(["echo while it was away"]);
      expect(textsTo(hooked, writer.chat.id)).toEqual(["echo refused"]);
    },
  );
});

describe("odd messages", () => {
  it("takes 100 kB of text, invalid UTF-16 and kinds of update that nobody knows, and goes on", async () => {
    model.plays((request) => ({ text: `${request.user.length}` }));
    const { user, chat } = polled.person();
    polled.message(chat, { from: user, text: "x".repeat(100_000) });
    polled.message(chat, { from: user, text: "half \ud800 of a pair" });
    polled.update({ something_new: { deep: { chat } } } as never, { force: true });
    polled.message(chat, { from: user, text: "still there?" });
    await eventually(() => textsTo(polled, chat.id).length === 3 || undefined, 20_000);
    expect(textsTo(polled, chat.id)).toEqual(["100000", "16", "12"]);
  });

  it("answers garbage at its doors with 4xx", async () => {
    const hook = `${place.url}/webhooks/telegram/hooked`;
    const secret = { "x-telegram-bot-api-secret-token": "s3cret" };
    const statuses = await Promise.all([
      fetch(hook, { method: "POST", body: "{}" }),
      fetch(hook, { method: "POST", body: "not json", headers: secret }),
      fetch(`${place.url}/webhooks/telegram/nobody`, { method: "POST", body: "{}" }),
      fetch(`${place.url}/v1/agents/nobody/run`, {
        method: "POST",
        body: "{}",
        headers: { authorization: `Bearer ${place.token}` },
      }),
      fetch(`${place.url}/v1/sessions`),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([401, 400, 404, 404, 401]);
  });
});

describe("a model that misbehaves", () => {
  const nonsense: [string, FakeAnswer][] = [
    ["an unknown tool", { calls: [{ name: "no_such_tool", arguments: {} }] }],
    ["arguments that are no JSON", { calls: [{ name: "praxis_buscar_records", arguments: '{"entidad": ' }] }],
    ["duplicate keys", { calls: [{ name: "praxis_crear_record", arguments: '{"monto":1,"monto":2}' }] }],
  ];
  it.each(nonsense)("is told what is wrong with %s, and may answer all the same", async (_, answer) => {
    let told: string | undefined;
    model.plays((request) => {
      if (request.result === undefined) return answer;
      told = request.result;
      return { text: "Sorry." };
    });
    expect(await run("hello", `nonsense-${_.length}`)).toMatchObject({ status: 200, body: { answer: "Sorry." } });
    expect(told).toBeTruthy();
    expect(backend.writes).toEqual([]);
  });

  it("ends endless calls with an answer", async () => {
    model.plays(() => ({ calls: [{ name: "praxis_buscar_records", arguments: { entidad: "cob_deuda" } }] }));
    const { status, body } = await run("hello", "endless");
    expect(status).toBe(200);
    expect(String(body.answer)).not.toBe("");
  });

  it.each([
    ["500", { fault: "status", status: 500 }],
    ["nonsense", { fault: "not_json" }],
    ["silence", { fault: "hang" }],
  ] satisfies [string, FakeAnswer][])("ends %s with one honest sentence", async (_, fault) => {
    model.plays([fault]);
    const { user, chat } = polled.person();
    polled.message(chat, { from: user, text: "hello" });
    const [text] = await eventually(
      () => (textsTo(polled, chat.id).length > 0 ? textsTo(polled, chat.id) : undefined),
      60_000,
    );
    expect(text).toBe("No pude procesar tu mensaje. No se ejecutó nada.");
    const response = await fetch(`${place.url}/v1/sessions/telegram:polled:${chat.id}:${user.id}`, {
      headers: { authorization: `Bearer ${place.token}` },
    });
    const story = (await response.json()) as { items: { kind: string; outcome?: string }[] };
    expect(story.items.some(({ kind, outcome }) => kind === "answer" && outcome === "failed")).toBe(true);
  });
});

describe("a back end that misbehaves", () => {
  it.each([
    ["fails", { kind: "status", status: 500 }],
    ["hangs", { kind: "hang" }],
    ["answers 50 MB", { kind: "huge", bytes: 50 * 1024 * 1024 }],
    ["resets", { kind: "reset_after" }],
  ] as const)("is told to the model when it %s, and Dale goes on", async (name, fault) => {
    backend.misbehave(fault);
    let told = "";
    model.plays((request) => {
      if (request.result === undefined) {
        return { calls: [{ name: "praxis_buscar_records", arguments: { entidad: "cob_deuda" } }] };
      }
      told = request.result;
      return { text: "The desk does not answer." };
    });
    const { body } = await run("hello", `backend-${name.replaceAll(" ", "-")}`);
    expect(body.answer).toBe("The desk does not answer.");
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThan(5000);
    expect(told).not.toContain("praxis-token-for-tests");
  });
});
